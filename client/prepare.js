// Builds the package when it is installed from its sources or packed. Where the compiler is left out, as by
// `npm ci --omit=dev`, nothing is built: the service does without the package.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const compiler = findCompiler();
if (compiler !== undefined)
  process.exitCode = spawnSync(process.execPath, [compiler, "-p", "tsconfig.json"], { stdio: "inherit" }).status ?? 1;

function findCompiler() {
  try {
    return createRequire(import.meta.url).resolve("typescript/bin/tsc");
  } catch {
    return undefined;
  }
}
