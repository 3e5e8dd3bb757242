// The real program as a child process: `npm start`'s own command, in a data folder of its own, on free ports.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DemoFile } from "../../src/embedded/demo.ts";
import { requireServiceUser } from "./database.ts";

/** A program that runs, or did. */
export interface Program {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  /** `demo.json`, once it is written. */
  demo(): DemoFile;
  /** Sends a signal and waits for the end: the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  readonly ended: Promise<number | NodeJS.Signals>;
}

const root = join(import.meta.dirname, "../..");
export const startCommand = ["bin/start.js"];

/** Starts the program and waits until it says that it is up. Rejects with its output when it ends before. */
export async function startProgram(dataDir: string, environment: Record<string, string> = {}): Promise<Program> {
  const program = spawnProgram({ DATA_DIR: dataDir, PORT: "0", INTERNAL_PORT: "0", LOG_LEVEL: "warn", ...environment });
  await new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      if (!program.output().includes("Records is up")) return;
      clearInterval(timer);
      resolve();
    }, 20);
    void program.ended.then((code) => {
      clearInterval(timer);
      reject(new Error(`the program ended with ${code}: ${program.output()}`));
    });
  });
  return program;
}

/** Starts the program and waits for nothing. */
export function spawnProgram(environment: Record<string, string>): Program {
  requireServiceUser(environment["MONGODB_URI"] ?? "");
  // The test runner sets a BASE_URL of its own; an empty one counts as unset.
  const child = spawn(process.execPath, startCommand, {
    cwd: root,
    env: { ...process.env, BASE_URL: "", ...environment },
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? 0)),
  );
  return {
    child,
    output: () => output,
    demo: () => JSON.parse(readFileSync(join(environment["DATA_DIR"] ?? "", "demo.json"), "utf8")) as DemoFile,
    end(signal) {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}
