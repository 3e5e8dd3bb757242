// Runs buf, which looks for its plugins on PATH and needs the third-party protos laid out; without a network.
import { spawnSync } from "node:child_process";
import { delimiter, resolve } from "node:path";
import { writeProtoDeps } from "./proto-deps.ts";

/** The image of the packages as they were released last: nothing of it may be taken away (spec Versioning 2). */
export const releasedImage = "proto/records.v1.binpb";

writeProtoDeps(".");

/** Runs `buf` with these arguments; false when it fails, which it explains on standard error by itself. */
export function buf(...args: readonly string[]): boolean {
  const bin = resolve("node_modules/.bin");
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  return spawnSync("buf", args, { env, stdio: "inherit" }).status === 0;
}
