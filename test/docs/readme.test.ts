// Runs the commands of the README, and compares their output with the README.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Program } from "../fixtures/service/program.ts";
import { startProgram } from "../fixtures/service/program.ts";
import { differences } from "./likeness.ts";
import { readPage, root, shownIn } from "./pages.ts";
import type { Ran } from "./shell.ts";
import { runAll } from "./shell.ts";

const readme = readPage("README.md");
const commands = readme.blocks
  .filter(({ language }) => language === "console")
  .flatMap((block) => shownIn(block).map(({ command }) => command));

let program: Program;
let folder: string;
let ran: Ran[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "records-readme-"));
  program = await startProgram(folder);
  ran = await runAll(commands.slice(1), { folder: join(folder, "reader"), dataDir: folder, program });
});

afterAll(async () => {
  await program.end();
  rmSync(folder, { recursive: true, force: true });
});

test("the README has at most 600 words, and its first command starts the service", () => {
  expect(readme.text.split(/\s+/).length).toBeLessThanOrEqual(600);
  expect(commands[0]).toBe("npm ci && npm start");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
  // Without exec a shell would be between npm and the service, and keep the signals for itself.
  expect(scripts.start).toBe("exec node bin/start.js");
});

test("the other commands of the README succeed in order, and the last one returns the shown response", () => {
  expect(ran.map(({ code }) => code)).toEqual(commands.slice(1).map(() => 0));
  expect(ran.length).toBeGreaterThanOrEqual(2);
  const shown = readme.blocks.find(({ language }) => language === "json")?.text ?? "";
  expect(differences(JSON.parse(shown), JSON.parse(ran.at(-1)?.output ?? ""))).toEqual([]);
});

test("the pictures of the README exist, for light and dark pages, and are small", () => {
  const pictures = [...readme.text.matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = ""]) => path);
  expect(pictures.map((path) => path.replace(/.*\//, "")).sort()).toEqual([
    "dashboard-dark.png",
    "dashboard-light.png",
    "reference-dark.png",
    "reference-light.png",
  ]);
  for (const path of pictures) {
    const picture = readFileSync(join(root, path));
    expect(picture.subarray(1, 4).toString(), path).toBe("PNG");
    expect(picture.length, path).toBeLessThan(200_000);
  }
});
