// Where the service's processor time goes: node's CPU profile of one line under load, or of its start, by self time.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A profile as node writes it (`--cpu-prof`), as far as it matters here; times in microseconds. */
interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Self time by what it is spent in, the most first, in parts of the whole. */
export type Shares = readonly (readonly [name: string, share: number])[];

/** What a profile shows: by package or folder, and by function. */
export interface Profile {
  readonly busyMs: number;
  readonly places: Shares;
  readonly functions: Shares;
}

const waiting = new Set(["(idle)", "(root)"]);

/** Options of node that make it write a profile into a folder when it ends. */
export function profiling(folder: string): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"];
}

/** Reads the profile in the folder, from so many milliseconds after its begin. */
export function readProfile(folder: string, fromMs: number): Profile {
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error("node has written no profile");
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [places, functions] = [new Map<string, number>(), new Map<string, number>()];
  let [elapsed, busy] = [0, 0];
  for (const [at, id] of samples.entries()) {
    // A sample lasts until the next one.
    const lasts = timeDeltas[at + 1] ?? 0;
    elapsed += timeDeltas[at] ?? 0;
    const frame = frames.get(id);
    if (frame === undefined || waiting.has(frame.functionName) || elapsed < fromMs * 1_000) continue;
    busy += lasts;
    const place = placeOf(frame.url, frame.functionName);
    add(places, place, lasts);
    add(
      functions,
      `${frame.functionName || "(anonymous)"} ${place === frame.functionName ? "" : `${shortened(frame.url)}:${frame.lineNumber + 1}`}`.trim(),
      lasts,
    );
  }
  return { busyMs: busy / 1_000, places: shares(places, busy, 14), functions: shares(functions, busy, 25) };
}

/** A profile as lines for people. */
export function profileText(title: string, { busyMs, places, functions }: Profile): string {
  const lines = (all: Shares): string =>
    all.map(([name, share]) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`).join("\n");
  return `${title}: ${busyMs.toFixed(0)} ms of processor time\n${lines(places)}\n\n${lines(functions)}\n`;
}

function placeOf(url: string, name: string): string {
  if (url === "") return name.startsWith("(") ? name : "native";
  if (url.startsWith("node:")) return "node";
  const [, scoped] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (scoped !== undefined) return scoped;
  return /\/((?:src|gateway|client)\/(?:[^/]+))/.exec(url)?.[1] ?? "other";
}

function shortened(url: string): string {
  return url.replace(/.*\/node_modules\//, "").replace(/.*\/(src|gateway)\//, "$1/");
}

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}

function shares(sums: ReadonlyMap<string, number>, whole: number, count: number): Shares {
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, sum]) => [name, sum / whole] as const);
}
