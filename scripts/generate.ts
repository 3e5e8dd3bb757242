// `npm run generate`: regenerates src/gen from the protos, the client's types from that, and the generated files in
// deploy and docs. With `--release`, it also records the protos as released.
import { buf, releasedImage } from "./buf.ts";
import { generateCommands } from "./commands.ts";
import { generatePlaces } from "./sharding-table.ts";
import { generatePrometheusRule } from "./prometheus-rule.ts";

const release = process.argv.includes("--release");
const done =
  buf("generate") &&
  // Imported only here because it reads the OpenAPI document generated above.
  (await import("./client-schema.ts")).generateClientSchema() &&
  generatePrometheusRule() &&
  generateCommands() &&
  generatePlaces() &&
  // Only the public packages: those of the internal listener may change.
  (!release || buf("build", "--path", "proto/records/v1", "--exclude-source-info", "--output", releasedImage));
if (!done) process.exitCode = 1;
