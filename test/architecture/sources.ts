// The sources that the rules of the architecture are checked on.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { clientSchemaFile } from "../../scripts/client-schema.ts";

const root = join(import.meta.dirname, "../..");

/** A source file; its path begins at the root of the repository. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** All TypeScript in these folders. */
export function sourcesIn(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
      .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), "utf8") })),
  );
}

const plugins = readFileSync(join(root, "buf.gen.yaml"), "utf8");
/** What the generators write, by their own words: the folders that buf empties first, and the client's types. */
const generated = [...[...plugins.matchAll(/^ +out: (\S+)$/gm)].map(([, folder]) => `${folder}/`), clientSchemaFile];

function handWrittenIn(...folders: string[]): Source[] {
  return sourcesIn(...folders).filter(({ path }) => !generated.some((output) => path.startsWith(output)));
}

/** What is written by hand, tests and scripts aside. */
export const handWritten = handWrittenIn(
  ...["src", "gateway", "client/src", "examples", "fixtures", "drills", "bench", "evals"],
);

/** All that is written by hand. */
export const allHandWritten = [...handWritten, ...handWrittenIn("scripts", "test")];
