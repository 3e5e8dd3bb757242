// The sources that the rules of the house are held against.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

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

const all = sourcesIn("src", "gateway", "client/src", "examples", "fixtures", "drills", "bench", "evals");

/** What is written by hand, tests and scripts aside. */
export const handWritten = all.filter(({ path }) => !path.startsWith("src/gen/") && path !== "client/src/schema.ts");
