// The results that are kept between runs, by Node: a run on one Node leaves those of the others in place.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benched } from "./bench.ts";
import { plot } from "./plot.ts";
import { table } from "./table.ts";

const dataFile = "results.json";

/** Writes `results.json`, `results.md` and `results.svg` into the folder; the table, for people. */
export function keep(folder: string, benched: Benched): string {
  mkdirSync(folder, { recursive: true });
  const others = read(folder).filter(({ results }) => majorOf(results.node) !== majorOf(benched.results.node));
  const all = [...others, benched].sort((a, b) => majorOf(a.results.node) - majorOf(b.results.node));
  const text = table(all);
  writeFileSync(join(folder, dataFile), `${JSON.stringify(all, rounded)}\n`);
  writeFileSync(join(folder, "results.md"), text);
  // One plot is enough: that of the newest Node.
  writeFileSync(join(folder, "results.svg"), plot((all.at(-1) ?? benched).results));
  return text;
}

function read(folder: string): Benched[] {
  try {
    return JSON.parse(readFileSync(join(folder, dataFile), "utf8")) as Benched[];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function majorOf(node: string): number {
  return Number(/\d+/.exec(node)?.[0]);
}

/** Five digits say all that a measurement knows. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
