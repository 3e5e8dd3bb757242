// The generators of Go clients: oapi-codegen and OpenAPI Generator.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { testCacheDir } from "../../test/fixtures/databases/cache-dir.ts";
import { isInstalled } from "../../test/fixtures/installed.ts";
import type { Generator } from "./generator.ts";
import { copyProgram, generateWith, missingForJava, openApiGeneratorVersion } from "./openapi-generator.ts";
import { madeOnce } from "../made-once.ts";
import { run } from "./run.ts";

const oapiCodegenVersion = "v2.8.2";
const shared = {
  language: "Go",
  compile: (folder) => void run("go", ["build", "-o", "program", "."], folder),
  command: (folder) => [join(folder, "program")],
} satisfies Partial<Generator>;

export const oapiCodegen: Generator = {
  ...shared,
  name: "oapi-codegen",
  version: oapiCodegenVersion,
  missing: () => (isInstalled("go") ? undefined : "Go"),
  generate(document, folder) {
    const tool = madeOnce(join(testCacheDir(), "go", `oapi-codegen-${oapiCodegenVersion}`), (bin) => {
      const module = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegenVersion}`;
      run("go", ["install", module], bin, { GOBIN: bin });
    });
    copyProgram("oapi-codegen", folder);
    mkdirSync(join(folder, "records"));
    const options = ["-generate", "types,client", "-package", "records", "-o", "records/client.go"];
    return run(join(tool, "oapi-codegen"), [...options, document], folder).all;
  },
};

export const openApiGeneratorGo: Generator = {
  ...shared,
  name: "go",
  version: openApiGeneratorVersion,
  missing: () => (isInstalled("go") ? missingForJava() : "Go"),
  generate(document, folder) {
    const printed = generateWith("go", ["--package-name", "records", "-p", "withGoMod=false"], document, folder);
    copyProgram("go", folder);
    cpSync(join(folder, "generated"), join(folder, "records"), { recursive: true });
    return printed;
  },
};
