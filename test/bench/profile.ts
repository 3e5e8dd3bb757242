// Shows where the service spends CPU time: summarizes Node's CPU profile of a line under load, or of the start, by self
// time.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The used parts of a profile that Node writes with `--cpu-prof`. Times are in microseconds. */
interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** Shares of the total self time, largest first. */
export type Shares = readonly (readonly [name: string, share: number])[];

/** A profile by package or folder, and by function. */
export interface Profile {
  readonly busyMs: number;
  readonly places: Shares;
  readonly functions: Shares;
}

const waiting = new Set(["(idle)", "(root)"]);

/** Options that make Node write a profile to a folder on exit. */
export function profiling(folder: string): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"];
}

/** Reads the profile in the folder, from `fromMs` milliseconds after its start. */
export function readProfile(folder: string, fromMs: number): Profile {
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error("Node has not written a profile");
  return profileOf(JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile, fromMs);
}

/** Summarizes a profile from `fromMs` milliseconds after its start. */
export function profileOf({ nodes, samples, timeDeltas }: CpuProfile, fromMs: number): Profile {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const [places, functions] = [new Map<string, number>(), new Map<string, number>()];
  let [elapsed, busy] = [0, 0];
  for (const [at, id] of samples.entries()) {
    // A sample lasts until the next one.
    const lasts = timeDeltas[at + 1] ?? 0;
    elapsed += timeDeltas[at] ?? 0;
    const frame = known.get(id)?.callFrame;
    if (frame === undefined || waiting.has(frame.functionName) || elapsed < fromMs * 1_000) continue;
    busy += lasts;
    add(places, placeOf(id, known, callers), lasts);
    add(functions, titleOf(frame), lasts);
  }
  return { busyMs: busy / 1_000, places: shares(places, busy, 30), functions: shares(functions, busy, 25) };
}

/** Formats a profile for people. `requests` is the number of requests served meanwhile; undefined for a start. */
export function profileText(title: string, profile: Profile, requests: number | undefined): string {
  const { busyMs, places, functions } = profile;
  const each = requests === undefined ? undefined : (busyMs * 1_000) / requests;
  const micros = (share: number): string => (each === undefined ? "" : `${(share * each).toFixed(1).padStart(7)} µs`);
  const lines = (all: Shares): string =>
    all.map(([name, share]) => `  ${(share * 100).toFixed(1).padStart(5)} %${micros(share)}  ${name}`).join("\n");
  const of = each === undefined ? "" : `, ${each.toFixed(0)} µs for each of ${requests} requests`;
  return `${title}: ${busyMs.toFixed(0)} ms of CPU time${of}\n${lines(places)}\n\n${lines(functions)}\n`;
}

/** The package or folder whose code runs. Node's own and native functions count for their callers. */
function placeOf(id: number, known: ReadonlyMap<number, ProfileNode>, callers: ReadonlyMap<number, number>): string {
  const own = known.get(id)?.callFrame;
  if (own?.url === "" && own.functionName.startsWith("(")) return own.functionName;
  for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) {
    const { url = "" } = known.get(at)?.callFrame ?? {};
    if (url !== "" && !url.startsWith("node:")) return placeOfUrl(url);
  }
  return "node";
}

/** The package or folder of a source. */
export function placeOfUrl(url: string): string {
  const [, scoped] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (scoped !== undefined) return scoped;
  return /\/((?:src|gateway|client|test\/bench\/peers)\/(?:[^/]+))/.exec(url)?.[1] ?? "other";
}

function titleOf({ functionName, url, lineNumber }: CallFrame): string {
  if (url === "" && functionName.startsWith("(")) return functionName;
  return `${functionName || "(anonymous)"} ${shortUrl(url)}:${lineNumber + 1}`;
}

/** The path of a source in its package, or in ours. */
export function shortUrl(url: string): string {
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
