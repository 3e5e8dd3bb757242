// Runs an example as a reader would, against a service of the test.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface Ended {
  readonly status: number;
  readonly out: string;
  readonly error: string;
}

export const root = join(import.meta.dirname, "../..");

/** Runs a program from the root of the repository; `environment` is all that it knows apart from PATH. */
export function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { cwd: root, env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment } },
      (error, out, errors) => {
        const status = error === null ? 0 : error.code;
        if (typeof status === "number") resolve({ status, out, error: errors });
        else reject(error);
      },
    );
  });
}

/** Runs `main.ts` of an example's folder. */
export function runExample(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  return run(process.execPath, ["--import", "tsx", `examples/${folder}/main.ts`, ...args], environment);
}

/** Creates a data folder with the `demo.json` of a service, for the rest of the test. */
export function demoFolder(base_url: string, api_key: string): string {
  const folder = mkdtempSync(join(tmpdir(), "records-demo-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // As the service writes it: one field a line.
  writeFileSync(join(folder, "demo.json"), JSON.stringify({ base_url, accounts: [{ api_key }] }, undefined, 2));
  return folder;
}

/** The message of an example without a demo, an address and a key. */
export const noDemo =
  "There is no demo here (data/demo.json): run `npm start` first, or set RECORDS_URL and RECORDS_API_KEY.";

/** The notices for a machine without them. */
export const withoutCurl = "No curl was found: the test of examples/curl is LEFT OUT. Install curl 7.76 or later.";
export const withoutPython =
  "No python3 was found: the test of examples/python is LEFT OUT. Install Python 3.8 or later.";
