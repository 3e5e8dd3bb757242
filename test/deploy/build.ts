// Builds the image of a Dockerfile without a container engine: each stage is a folder, into which its steps are really
// taken.
import { execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Instruction } from "./dockerfile.ts";
import { assignments, createFilter, execForm, parseDockerfile } from "./dockerfile.ts";

export interface Image {
  /** The folder that stands for `/`. */
  readonly root: string;
  readonly from: string;
  /** Where CMD runs, on this machine. */
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly ports: readonly string[];
  readonly cmd: readonly string[];
  readonly healthcheck: readonly string[];
}

type Building = { -readonly [Field in keyof Image]: Image[Field] };

/**
 * Takes every step of `context`'s Dockerfile in folders under `folder`. Throws where a step fails or is of no known
 * kind.
 */
export function buildImage(context: string, folder: string): Image {
  const filter = createFilter(readFileSync(join(context, ".dockerignore"), "utf8"));
  const built = new Map<string, Image>();
  let image: Building | undefined;
  for (const { image: from, name, instructions } of parseDockerfile(
    readFileSync(join(context, "Dockerfile"), "utf8"),
  )) {
    const root = mkdtempSync(join(folder, `${name ?? "stage"}-`));
    image = { root, from, workdir: root, env: {}, labels: {}, user: "root", ports: [], cmd: [], healthcheck: [] };
    for (const instruction of instructions) take(image, instruction, context, filter, built);
    if (name !== undefined) built.set(name, image);
  }
  if (image === undefined) throw new Error("the Dockerfile has no stage");
  return image;
}

function take(
  image: Building,
  { name, flags, rest }: Instruction,
  context: string,
  filter: (path: string) => boolean,
  built: ReadonlyMap<string, Image>,
): void {
  switch (name) {
    case "WORKDIR":
      image.workdir = join(rest.startsWith("/") ? image.root : image.workdir, rest);
      return void mkdirSync(image.workdir, { recursive: true });
    case "COPY":
      return copy(image, rest.split(/\s+/), flags["from"], context, filter, built);
    case "RUN":
      return void execFileSync("/bin/sh", ["-ec", rest], {
        cwd: image.workdir,
        env: { ...ownEnvironment(), ...image.env },
        stdio: ["ignore", "ignore", "pipe"],
      });
    case "ENV":
      return void (image.env = { ...image.env, ...assignments(rest) });
    case "LABEL":
      return void (image.labels = { ...image.labels, ...assignments(rest) });
    case "USER":
      return void (image.user = rest);
    case "EXPOSE":
      return void (image.ports = rest.split(/\s+/));
    case "CMD":
      return void (image.cmd = execForm(rest));
    case "HEALTHCHECK":
      return void (image.healthcheck = execForm(rest.replace(/^CMD\s+/, "")));
    case "ARG":
      return;
    default:
      throw new Error(`no such step is taken here: ${name}`);
  }
}

function copy(
  image: Image,
  words: readonly string[],
  stage: string | undefined,
  context: string,
  filter: (path: string) => boolean,
  built: ReadonlyMap<string, Image>,
): void {
  const [target = "", sources] = [words.at(-1), words.slice(0, -1)];
  const origin = stage === undefined ? context : built.get(stage)?.root;
  if (origin === undefined) throw new Error(`COPY from a stage that is not there: ${stage}`);
  const to = join(target.startsWith("/") ? image.root : image.workdir, target);
  for (const source of sources) {
    const from = join(origin, source);
    const isFolder = lstatSync(from).isDirectory();
    const wanted = (path: string): boolean =>
      stage !== undefined || lstatSync(path).isDirectory() || filter(path.slice(context.length + 1));
    if (!isFolder && !wanted(from)) throw new Error(`COPY of what .dockerignore keeps out: ${source}`);
    // A folder is copied as what is in it; a file into a folder keeps its name.
    cpSync(from, isFolder || !target.endsWith("/") ? to : join(to, source.split("/").at(-1) ?? ""), {
      recursive: true,
      verbatimSymlinks: true,
      // As a container engine does.
      preserveTimestamps: true,
      filter: wanted,
    });
  }
}

/** What a build may use of this machine: the paths of programs and packages. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, npm_config_registry } = process.env;
  return { PATH, HOME, ...(npm_config_registry === undefined ? {} : { npm_config_registry }) };
}

/** Every file of a folder, by its path in it. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
