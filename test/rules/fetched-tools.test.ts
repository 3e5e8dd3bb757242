// What the tests take from registries: made whole and once, and fetched ahead of the tests that need it.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { madeOnce } from "../../scripts/made-once.ts";
import * as pythonTools from "../../scripts/python-tool.ts";
import { fetchTools, fetchedTools } from "../support/fetch-tools.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "records-fetched-tools-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const fill = (text: string) => (folder: string) => writeFileSync(join(folder, "tool"), text);
const toolIn = (folder: string): string => readFileSync(join(folder, "tool"), "utf8");

test("makes a folder once, and again if it is incomplete", () => {
  const folder = join(root, "cache", "tool-1");
  expect(toolIn(madeOnce(folder, fill("first")))).toBe("first");
  expect(toolIn(madeOnce(folder, fill("second")))).toBe("first");
  expect(toolIn(madeOnce(folder, fill("third"), () => toolIn(folder) === "third"))).toBe("third");
});

test("a folder that cannot be made leaves nothing behind", () => {
  const fail = (): never => {
    throw new Error("no network");
  };
  expect(() => madeOnce(join(root, "tool-1"), fail)).toThrow("no network");
  expect(readdirSync(root)).toEqual([]);
});

test("keeps the folder of another run that was faster, because it may be in use", () => {
  const folder = join(root, "tool-1");
  madeOnce(folder, (making) => {
    fill("slow")(making);
    mkdirSync(folder);
    fill("fast")(folder);
  });
  expect(toolIn(folder)).toBe("fast");
  expect(readdirSync(root)).toEqual(["tool-1"]);
});

test("reports a tool that cannot be fetched, and fetches the others", () => {
  const fetched: string[] = [];
  const said: string[] = [];
  const tools = [
    { name: "one", fetch: () => "no python3" },
    {
      name: "two",
      fetch: () => {
        throw new Error("no network");
      },
    },
    { name: "three", fetch: (cacheDir: string) => void fetched.push(cacheDir) },
  ];
  fetchTools(tools, root, (line) => said.push(line));
  expect(said).toEqual(["one cannot be fetched: no python3", "two cannot be fetched: no network"]);
  expect(fetched).toEqual([root]);
});

test("fetches every tool in Python ahead of the tests", () => {
  const names = Object.values(pythonTools).flatMap((tool) => (typeof tool === "object" ? [tool.project] : []));
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !fetchedTools.some((tool) => tool.name === name))).toEqual([]);
});
