// The exercises: what a change takes is still what AGENTS.md says.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const exercises = readdirSync(import.meta.dirname).filter((name) => !/^(?:scratch|exercises\.test)\.ts$/.test(name));
/** Each compiles the whole project several times, and one runs the tests that know every operation. */
const limitMs = 900_000;

test.each(exercises)(
  "%s: the compiler and the tests name everything else that such a change needs",
  async (name) => {
    const { TESTS: _, ...env } = process.env;
    const { stdout } = await run("npx", ["tsx", join(import.meta.dirname, name)], { cwd: root, env });
    expect(stdout).toMatch(/^yes: /m);
  },
  limitMs,
);
