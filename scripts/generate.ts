// `npm run generate`: regenerates src/gen from the protos, the client's types from that, and the generated files in
// deploy and docs. With `--release`, it also records the protos as released.
import { writeFileSync } from "node:fs";
import { buf, releasedImage } from "./buf.ts";

const release = process.argv.includes("--release");
const done =
  buf("generate") &&
  (await generateFiles()) &&
  // Only the public packages: those of the internal listener may change.
  (!release || buf("build", "--path", "proto/records/v1", "--exclude-source-info", "--output", releasedImage));
if (!done) process.exitCode = 1;

/** Writes the other files. Returns false if a generator failed. */
async function generateFiles(): Promise<boolean> {
  // Imported only here because it reads what `buf` has generated.
  const { generatedFiles } = await import("./generated.ts");
  for (const { path, make } of generatedFiles) {
    const content = make();
    if (content === undefined) return false;
    writeFileSync(path, content);
  }
  return true;
}
