// The generators for Python clients: openapi-python-client, OpenAPI Generator and grpcio-tools.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testCacheDir } from "../../test/fixtures/databases/cache-dir.ts";
import { canMakeEnvironments, grpcioTools, openapiPythonClient, pythonTool } from "../python-tool.ts";
import type { Generator } from "./generator.ts";
import { copyProgram, generateWith, missingForJava, openApiGeneratorVersion } from "./openapi-generator.ts";
import { run } from "./run.ts";

const missingForPython = (): string | undefined => (canMakeEnvironments() ? undefined : "a python3 with venv and pip");
/** The Python with the libraries of both clients. */
const python = (): string => pythonTool(openapiPythonClient, testCacheDir())[0];
const shared = {
  language: "Python",
  compile: (folder) => void run(python(), ["-m", "compileall", "-q", "records_client"], folder),
  command: (folder) => [python(), join(folder, "program.py")],
} satisfies Partial<Generator>;

export const openApiPythonClient: Generator = {
  ...shared,
  name: openapiPythonClient.project,
  version: openapiPythonClient.version,
  missing: missingForPython,
  generate(document, folder) {
    const [tool, ...first] = pythonTool(openapiPythonClient, testCacheDir());
    copyProgram("openapi-python-client", folder);
    // Otherwise, it would run a formatter, which is a separate program.
    writeFileSync(join(folder, "config.yaml"), "post_hooks: []\n");
    const target = ["--path", document, "--output-path", "generated", "--config", "config.yaml", "--fail-on-warning"];
    const { all } = run(tool, [...first, "generate", ...target], folder);
    cpSync(join(folder, "generated/records_client"), join(folder, "records_client"), { recursive: true });
    return all;
  },
};

export const openApiGeneratorPython: Generator = {
  ...shared,
  name: "python",
  version: openApiGeneratorVersion,
  missing: () => missingForPython() ?? missingForJava(),
  generate(document, folder) {
    copyProgram("python", folder);
    const printed = generateWith("python", ["--package-name", "records_client"], document, folder);
    cpSync(join(folder, "generated/records_client"), join(folder, "records_client"), { recursive: true });
    return printed;
  },
};

export const grpcPython: Generator = {
  name: grpcioTools.project,
  version: grpcioTools.version,
  language: "Python",
  missing: missingForPython,
  from: "descriptors",
  generate(descriptors, folder) {
    const [tool, ...first] = pythonTool(grpcioTools, testCacheDir());
    copyProgram("grpcio-tools", folder);
    mkdirSync(join(folder, "generated"));
    const files = ["contacts", "notes", "pagination", "sessions"].map((name) => `records/v1/${name}.proto`);
    const target = ["--python_out=generated", "--grpc_python_out=generated"];
    return run(tool, [...first, `--descriptor_set_in=${descriptors}`, ...target, ...files], folder).all;
  },
  compile: (folder) => void run("python3", ["-m", "compileall", "-q", "generated"], folder),
  command: (folder) => [pythonTool(grpcioTools, testCacheDir())[0], join(folder, "program.py")],
};
