// Runs the commands of a page in one shell, as a reader would, against the ports that are really listened on.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "../fixtures/service/program.ts";
import { root } from "./pages.ts";

/** How a command ended, and what it printed on either stream. */
export interface Ran {
  readonly code: number;
  readonly output: string;
}

/**
 * Where the commands of a page run: a folder with the programs and the demo's data folder, as beside a service.
 */
export interface ShellContext {
  readonly folder: string;
  readonly dataDir: string;
  readonly program: Program;
}

/** Runs commands one after the other; what one sets, the next has. */
export async function runAll(commands: readonly string[], { folder, dataDir, program }: ShellContext): Promise<Ran[]> {
  mkdirSync(folder);
  symlinkSync(dataDir, join(folder, "data"));
  symlinkSync(join(root, "bin"), join(folder, "bin"));
  const { base_url, internal_url } = program.demo();
  const hosts = [
    ["localhost:8080", new URL(base_url).host],
    ["localhost:8081", new URL(internal_url).host],
  ] as const;
  const there = (text: string): string => hosts.reduce((done, [shown, real]) => done.replaceAll(shown, real), text);
  const back = (text: string): string => hosts.reduce((done, [shown, real]) => done.replaceAll(real, shown), text);
  const mark = randomUUID();
  const tsx = join(root, "node_modules/tsx/dist/esm/index.mjs");
  const script = [
    // A variable that no command of the page has set ends the shell.
    "exec 2>&1 </dev/null; set -u",
    // On a terminal, which this is not, curl shows no progress meter with a response that it prints.
    "exec 9>&1",
    'curl() { case " $* " in *" -o "*) ;; *) [ /dev/fd/1 -ef /dev/fd/9 ] && set -- -sS "$@";; esac; command curl "$@"; }',
    `npm() { (cd '${root}' && command npm "$@"); }`,
    `npx() { local tool=$1; shift; case $tool in tsx) (cd '${root}' && node --import '${tsx}' "$@");; *) return 127;; esac; }`,
    ...commands.flatMap((command) => [there(command), `printf '\\n${mark} %d\\n' $?`]),
  ].join("\n");
  const { PATH, HOME } = process.env;
  const shell = spawn("bash", ["-c", script], { cwd: folder, env: { PATH, HOME, RECORDS_URL: base_url } });
  let printed = "";
  shell.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await new Promise((ended) => shell.once("close", ended));
  const parts = printed.split(new RegExp(`\\n${mark} (\\d+)\\n`));
  return commands.map((_, at) => ({ output: back(parts[2 * at] ?? ""), code: Number(parts[2 * at + 1] ?? -1) }));
}
