// Runs buf without a network. It looks for its plugins on PATH.
import { spawnSync } from "node:child_process";
import { delimiter, resolve } from "node:path";

/** The image of the packages in the latest release: nothing in it may be removed (spec Versioning 2). */
export const releasedImage = "proto/records.v1.binpb";

/** Runs `buf` with these arguments. False if it fails; it explains why on standard error. */
export function buf(...args: readonly string[]): boolean {
  const bin = resolve("node_modules/.bin");
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  return spawnSync("buf", args, { env, stdio: "inherit" }).status === 0;
}
