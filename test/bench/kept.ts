// Keeps results between runs, by Node version. A run on one Node leaves the results of others in place.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benched } from "./bench.ts";
import { table } from "./table.ts";

const dataFile = "results.json";

/**
 * Writes `results.json` and `results.md` to the folder and returns the table. A partial run only replaces its lines.
 */
export function keep(folder: string, benched: Benched, isPart: boolean): string {
  mkdirSync(folder, { recursive: true });
  const known = read(folder);
  const isSame = ({ results }: Benched): boolean => majorOf(results.node) === majorOf(benched.results.node);
  const before = isPart ? known.find(isSame) : undefined;
  const whole = before === undefined ? benched : replaceLines(before, benched);
  const others = known.filter((one) => !isSame(one));
  const all = [...others, whole].sort((a, b) => majorOf(a.results.node) - majorOf(b.results.node));
  const text = table(all);
  writeFileSync(join(folder, dataFile), `${JSON.stringify(all, rounded)}\n`);
  writeFileSync(join(folder, "results.md"), text);
  return text;
}

/** Replaces the lines that were measured again, and adds a note that names them with the notes that differ. */
function replaceLines(before: Benched, { results, notes }: Benched): Benched {
  const measured = new Map(results.pairs.map((pair) => [`${pair.line} ${pair.other.name}`, pair]));
  const pairs = before.results.pairs.map((pair) => measured.get(`${pair.line} ${pair.other.name}`) ?? pair);
  const titles = [...new Set(results.pairs.map(({ lineTitle }) => lineTitle))].join("; ");
  const again = `Measured again, on a newer version: ${titles}.`;
  const kept = before.notes.filter((note) => !note.startsWith(again));
  return {
    results: {
      ...before.results,
      pairs,
      starts: { ...before.results.starts, ...results.starts },
      searches: results.searches.length > 0 ? results.searches : before.results.searches,
      memory: results.memory ?? before.results.memory,
    },
    notes: [...kept, [again, ...notes.filter((note) => !kept.includes(note))].join(" ")],
  };
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

/** Five digits exceed the precision of a measurement. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
