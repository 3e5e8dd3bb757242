// Installs a pinned Python tool once, into its own virtual environment in the user's cache folder.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

/** A PyPI project at one version. */
export interface PythonProject {
  readonly project: string;
  readonly version: string;
}

/** A project that runs as a program. */
export interface PythonTool extends PythonProject {
  /** What `python -m` runs. */
  readonly module: string;
  /** Requirements that are installed with it. */
  readonly extras?: readonly string[];
}

/** Sends requests generated from an OpenAPI document. */
export const schemathesis: PythonTool = { project: "schemathesis", version: "4.32.5", module: "schemathesis.cli" };
/** Contains the Kubernetes schemas. */
export const kubernetesValidate: PythonTool = {
  project: "kubernetes-validate",
  version: "1.37.0",
  module: "kubernetes_validate",
};
/** Contains the schema for Compose files. */
export const checkJsonschema: PythonTool = {
  project: "check-jsonschema",
  version: "0.39.0",
  module: "check_jsonschema",
};

/** Generates Python clients; installed with the other dependencies of OpenAPI Generator's client. */
export const openapiPythonClient: PythonTool = {
  project: "openapi-python-client",
  version: "0.29.1",
  module: "openapi_python_client",
  extras: ["urllib3==2.8.0", "python-dateutil==4.0.0"],
};

/** Generates Python gRPC clients; installed with what a program needs to read error details. */
export const grpcioTools: PythonTool = {
  project: "grpcio-tools",
  version: "1.85.1",
  module: "grpc_tools.protoc",
  extras: ["grpcio-status"],
};

/** Whether there is a python3 that can create virtual environments with pip. */
export function canMakeEnvironments(): boolean {
  return spawnSync("python3", ["-c", "import ensurepip, venv"], { stdio: "ignore" }).status === 0;
}

/** The message if there is none. */
export const withoutEnvironments = "No python3 with venv and pip was found (on Debian: apt-get install python3-venv)";

/**
 * The command that runs the tool: a program and its first arguments. Installs the tool under `cacheDir` (that of
 * src/config/config.ts) if necessary. Throws with the last line of pip's output.
 */
export function pythonTool(
  { project, version, module, extras = [] }: PythonTool,
  cacheDir: string,
): readonly [program: string, ...args: string[]] {
  return [environment({ project, version }, cacheDir, ["-m", module, "--version"], extras), "-m", module];
}

/** The Python of an environment with the project installed, to run our own program. Installs it like `pythonTool`. */
export function pythonWith({ project, version }: PythonProject, cacheDir: string): string {
  const found = `import importlib.metadata as metadata; metadata.version(${JSON.stringify(project)})`;
  return environment({ project, version }, cacheDir, ["-c", found]);
}

/** The Python of the environment, which is created if the check fails. */
function environment(
  { project, version }: PythonProject,
  cacheDir: string,
  check: readonly string[],
  extras: readonly string[] = [],
): string {
  const folder = join(cacheDir, "python", `${project}-${version}`);
  // An environment works only with the minor version of Python that created it.
  const isWhole = (): boolean => passes(folder, check);
  madeOnce(folder, (making) => install(making, [`${project}==${version}`, ...extras]), isWhole);
  return join(folder, "bin", "python");
}

function passes(folder: string, check: readonly string[]): boolean {
  return existsSync(folder) && spawnSync(join(folder, "bin", "python"), [...check], { stdio: "ignore" }).status === 0;
}

function install(folder: string, requirements: readonly string[]): void {
  if (!canMakeEnvironments()) throw new Error(withoutEnvironments);
  run("python3", ["-m", "venv", folder], "python3 cannot create a virtual environment");
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
