// `npm run generate`: makes src/gen anew from the protos, the client's types from them, and the generated files of
// deploy and docs. With `--release` it also records the protos as released.
import { buf, releasedImage } from "./buf.ts";
import { generateCommands } from "./commands.ts";
import { generateDashboard } from "./dashboard.ts";
import { generateDiagrams } from "./diagrams.ts";
import { generatePlaces } from "./sharding-table.ts";
import { protoDeps, writeProtoDeps } from "./proto-deps.ts";
import { generatePrometheusRule } from "./prometheus-rule.ts";

writeProtoDeps(protoDeps);
const release = process.argv.includes("--release");
const done =
  buf("generate") &&
  // Loaded only now: it reads the OpenAPI document that was just made.
  (await import("./client-schema.ts")).generateClientSchema() &&
  generatePrometheusRule() &&
  generateDashboard() &&
  generateDiagrams() &&
  generateCommands() &&
  generatePlaces() &&
  // Only what the outside may rely on: the packages of the internal listener can change.
  (!release || buf("build", "--path", "proto/records/v1", "--exclude-source-info", "--output", releasedImage));
if (!done) process.exitCode = 1;
