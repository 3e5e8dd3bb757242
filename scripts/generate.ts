// `npm run generate`: makes src/gen anew from the protos. With `--release` it also records them as released.
import { buf, releasedImage } from "./buf.ts";

const release = process.argv.includes("--release");
const done =
  buf("generate") &&
  // Only what the outside may rely on: the packages of the internal listener can change.
  (!release || buf("build", "--path", "proto/records/v1", "--exclude-source-info", "--output", releasedImage));
if (!done) process.exitCode = 1;
