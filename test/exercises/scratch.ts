// A scratch copy of the repository for an exercise: changes files, runs commands, and reports the result.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A copy that git compares with what was copied. */
export interface Scratch {
  readonly folder: string;
  read(file: string): string;
  /** Changes a file; throws where the change changes nothing. */
  change(file: string, edit: (text: string) => string): void;
  run(program: string, ...options: string[]): { readonly status: number | null; readonly stdout: string };
  /** The files in which the compiler finds something wrong. */
  uncompiled(): string[];
  /** The files that were changed, without those that are generated. */
  changedByHand(): string[];
  remove(): void;
}

/** Copies what git knows, and what it does not ignore. */
export function createScratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), "records-exercise-"));
  const run: Scratch["run"] = (program, ...options) =>
    spawnSync(program, options, { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const { stdout: files } = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of files.split("\n").filter((name) => name !== "")) cpSync(join(root, file), join(folder, file));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  cpSync(join(root, "client/node_modules"), join(folder, "client/node_modules"), { recursive: true });
  run("git", "init", "-q");
  run("git", "add", "-A");
  return {
    folder,
    run,
    read: (file) => readFileSync(join(folder, file), "utf8"),
    change(file, edit) {
      const before = readFileSync(join(folder, file), "utf8");
      const after = edit(before);
      if (after === before) throw new Error(`${file} is not as the exercise expects it`);
      writeFileSync(join(folder, file), after);
    },
    uncompiled() {
      const { stdout } = run("node_modules/.bin/tsc", "--noEmit");
      return [...new Set([...stdout.matchAll(/^([\w/.-]+)\(\d+/gm)].map(([, file = ""]) => file))];
    },
    changedByHand() {
      const generated = /^(?:src\/gen\/|client\/src\/schema\.ts$)/;
      return run("git", "diff", "--name-only")
        .stdout.trim()
        .split("\n")
        .filter((file) => !generated.test(file));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Prints a check that holds. Throws if it does not, which ends the exercise with 1. */
export function expect(what: string, holds: boolean): void {
  if (!holds) throw new Error(`This does not hold: ${what}`);
  console.log(`yes: ${what}`);
}
