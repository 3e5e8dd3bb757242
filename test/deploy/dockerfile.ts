// Reads a Dockerfile and a .dockerignore, as far as ours go: what is not understood is rejected, never passed over.

/** One instruction: its name in capitals, its flags, and the rest of its line. */
export interface Instruction {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly rest: string;
}

/** What is between one FROM and the next. */
export interface Stage {
  readonly image: string;
  /** Undefined for a stage without a name. */
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile. Throws for a line that is no instruction. */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .join("\n")
    .replace(/\\\n/g, " ")
    .split("\n");
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of lines.map((one) => one.trim()).filter((one) => one !== "")) {
    const instruction = parseInstruction(line);
    if (instruction.name === "FROM") {
      const [image = "", , name] = instruction.rest.split(/\s+/);
      stages.push({ image, name, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`before the first FROM: ${line}`);
      stage.instructions.push(instruction);
    }
  }
  return stages;
}

function parseInstruction(line: string): Instruction {
  const [, name, rest] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
  if (name === undefined || rest === undefined) throw new Error(`not an instruction: ${line}`);
  const [flags = ""] = /^(--\S+\s+)*/.exec(rest) ?? [];
  const pairs = flags
    .trim()
    .split(/\s+/)
    .filter((flag) => flag !== "")
    .map((flag) => flag.slice(2).split("=") as [string, string]);
  return { name, flags: Object.fromEntries(pairs), rest: rest.slice(flags.length).trim() };
}

/** The words of an instruction in exec form, which no shell reads. Throws for the shell form. */
export function execForm(text: string): string[] {
  if (!text.startsWith("[")) throw new Error(`not in exec form: ${text}`);
  return JSON.parse(text) as string[];
}

/** `NAME=value` and `NAME="value with blanks"`, as ENV and LABEL take them. */
export function assignments(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w.-]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name, quoted, plain]) => [name, quoted ?? plain]),
  );
}

/**
 * Whether a file, by its path from the context's root, gets into the build: the last line that names it or a folder
 * above decides. Of patterns, only a line with nothing but an asterisk is known.
 */
export function createFilter(dockerignore: string): (path: string) => boolean {
  const rules = dockerignore
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ kept: line.startsWith("!"), path: line.replace(/^!/, "") }));
  const unknown = rules.find(({ path }) => path !== "*" && /[*?[]/.test(path));
  if (unknown !== undefined) throw new Error(`no such pattern is read here: ${unknown.path}`);
  return (file) =>
    rules.findLast(({ path }) => path === "*" || path === file || file.startsWith(`${path}/`))?.kept ?? true;
}
