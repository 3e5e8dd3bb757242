// Installs a Python tool, pinned, into a virtual environment of its own in the user's cache folder, once.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

/** A project of PyPI, at one version. */
export interface PythonProject {
  readonly project: string;
  readonly version: string;
}

/** A project that is run as a program. */
export interface PythonTool extends PythonProject {
  /** What `python -m` runs. */
  readonly module: string;
  /** What is installed with it. */
  readonly extras?: readonly string[];
}

/** Runs requests that are made from an OpenAPI document. */
export const schemathesis: PythonTool = { project: "schemathesis", version: "4.32.5", module: "schemathesis.cli" };
/** Carries the schemas of Kubernetes. */
export const kubernetesValidate: PythonTool = {
  project: "kubernetes-validate",
  version: "1.37.0",
  module: "kubernetes_validate",
};
/** Carries the schema of Compose files. */
export const checkJsonschema: PythonTool = {
  project: "check-jsonschema",
  version: "0.39.0",
  module: "check_jsonschema",
};

/** Generates clients in Python; with it what the client of OpenAPI Generator needs more. */
export const openapiPythonClient: PythonTool = {
  project: "openapi-python-client",
  version: "0.29.1",
  module: "openapi_python_client",
  extras: ["urllib3==2.8.0", "python-dateutil==4.0.0"],
};

/** Generates gRPC clients in Python; with it what a program needs to read the details of an error. */
export const grpcioTools: PythonTool = {
  project: "grpcio-tools",
  version: "1.85.1",
  module: "grpc_tools.protoc",
  extras: ["grpcio-status"],
};

/** Whether there is a python3 that makes virtual environments with pip in them. */
export function canMakeEnvironments(): boolean {
  return spawnSync("python3", ["-c", "import ensurepip, venv"], { stdio: "ignore" }).status === 0;
}

/** What to say where there is none. */
export const withoutEnvironments = "No python3 with venv and pip was found (on Debian: apt-get install python3-venv)";

/**
 * The command that runs the tool: a program and its first arguments. Installs it where it is not yet, under `cacheDir`
 * (as of src/config/config.ts). Throws with what pip said last.
 */
export function pythonTool(
  { project, version, module, extras = [] }: PythonTool,
  cacheDir: string,
): readonly [program: string, ...args: string[]] {
  return [environment({ project, version }, cacheDir, ["-m", module, "--version"], extras), "-m", module];
}

/** The Python of an environment with the project in it, for a program of ours. Installs it as `pythonTool` does. */
export function pythonWith({ project, version }: PythonProject, cacheDir: string): string {
  const found = `import importlib.metadata as metadata; metadata.version(${JSON.stringify(project)})`;
  return environment({ project, version }, cacheDir, ["-c", found]);
}

/** The Python of the environment, which is made where the check does not pass. */
function environment(
  { project, version }: PythonProject,
  cacheDir: string,
  check: readonly string[],
  extras: readonly string[] = [],
): string {
  const folder = join(cacheDir, "python", `${project}-${version}`);
  // The environment is of no use to another minor version of Python, whose own programs it names.
  const isWhole = (): boolean => passes(folder, check);
  madeOnce(folder, (making) => install(making, [`${project}==${version}`, ...extras]), isWhole);
  return join(folder, "bin", "python");
}

function passes(folder: string, check: readonly string[]): boolean {
  return existsSync(folder) && spawnSync(join(folder, "bin", "python"), [...check], { stdio: "ignore" }).status === 0;
}

function install(folder: string, requirements: readonly string[]): void {
  if (!canMakeEnvironments()) throw new Error(withoutEnvironments);
  run("python3", ["-m", "venv", folder], "python3 cannot make a virtual environment");
  run(
    join(folder, "bin", "python"),
    ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", ...requirements],
    `pip cannot install ${requirements.join(" ")}`,
  );
}

function run(program: string, args: readonly string[], failure: string): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 600_000 });
  if (status === 0) return;
  const said = (stderr ?? "").trim().split("\n").at(-1);
  throw new Error(`${failure} (${error?.message ?? said})`);
}
