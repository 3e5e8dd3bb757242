// The generators for Go clients: oapi-codegen, OpenAPI Generator and Connect's own.
import { cpSync, mkdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { testCacheDir } from "../../test/fixtures/databases/cache-dir.ts";
import { isInstalled } from "../../test/fixtures/installed.ts";
import type { Generator } from "./generator.ts";
import { copyProgram, generateWith, missingForJava, openApiGeneratorVersion } from "./openapi-generator.ts";
import { madeOnce } from "../made-once.ts";
import { run } from "./run.ts";

const oapiCodegenVersion = "v2.8.2";
const connectVersion = "v1.21.1";
const protobufVersion = "v1.36.12";
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

export const connectGo: Generator = {
  ...shared,
  name: "connect-go",
  version: connectVersion,
  missing: () => (isInstalled("go") ? undefined : "Go"),
  from: "descriptors",
  generate(descriptors, folder) {
    const tools = madeOnce(join(testCacheDir(), "go", `connect-${connectVersion}-${protobufVersion}`), (bin) => {
      run("go", ["install", `google.golang.org/protobuf/cmd/protoc-gen-go@${protobufVersion}`], bin, { GOBIN: bin });
      run("go", ["install", `connectrpc.com/connect/cmd/protoc-gen-connect-go@${connectVersion}`], bin, { GOBIN: bin });
    });
    copyProgram("connect-go", folder);
    const PATH = [tools, process.env["PATH"]].join(delimiter);
    return run(resolve("node_modules/.bin/buf"), ["generate", descriptors, "--path", "records"], folder, { PATH }).all;
  },
};
