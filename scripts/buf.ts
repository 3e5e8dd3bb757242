// Runs buf, which looks for its plugins on PATH; without a network.
import { spawnSync } from "node:child_process";
import { delimiter, resolve } from "node:path";

/** The image of the packages as they were released last: nothing of it may be taken away (spec Versioning 2). */
export const releasedImage = "proto/records.v1.binpb";

/** Runs `buf` with these arguments; false when it fails, which it explains on standard error by itself. */
export function buf(...args: readonly string[]): boolean {
  const bin = resolve("node_modules/.bin");
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  return spawnSync("buf", args, { env, stdio: "inherit" }).status === 0;
}
