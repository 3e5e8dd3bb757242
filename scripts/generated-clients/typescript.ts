// The generator for TypeScript clients: OpenAPI Generator, with fetch.
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Generator } from "./generator.ts";
import { copyProgram, generateWith, missingForJava, openApiGeneratorVersion } from "./openapi-generator.ts";
import { run } from "./run.ts";

const root = join(import.meta.dirname, "../..");
const compilerOptions = {
  strict: true,
  target: "es2022",
  lib: ["es2022", "dom"],
  module: "nodenext",
  outDir: "out",
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")],
};

export const openApiGeneratorTypescript: Generator = {
  name: "typescript-fetch",
  version: openApiGeneratorVersion,
  language: "TypeScript",
  missing: missingForJava,
  generate(document, folder) {
    copyProgram("typescript-fetch", folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }));
    const printed = generateWith("typescript-fetch", ["-p", "importFileExtension=.js"], document, folder);
    cpSync(join(folder, "generated"), join(folder, "records"), { recursive: true });
    return printed;
  },
  compile: (folder) => void run(process.execPath, [join(root, "client/node_modules/typescript/bin/tsc")], folder),
  command: (folder) => [process.execPath, join(folder, "out/program.mjs")],
};
