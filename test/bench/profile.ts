// Where the service's processor time goes: node's CPU profile of one line under load, or of its start, by self time.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A profile as node writes it (`--cpu-prof`), as far as it matters here; times in microseconds. */
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

/** Reads the profile in the folder, from `fromMs` milliseconds after its start. */
export function readProfile(folder: string, fromMs: number): Profile {
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error("node has written no profile");
  return profileOf(JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile, fromMs);
}

/** What a profile shows from `fromMs` milliseconds after its start. */
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

/** A profile as lines for people; `requests` is how many were served meanwhile, undefined where that says nothing. */
export function profileText(title: string, profile: Profile, requests: number | undefined): string {
  const { busyMs, places, functions } = profile;
  const each = requests === undefined ? undefined : (busyMs * 1_000) / requests;
  const micros = (share: number): string => (each === undefined ? "" : `${(share * each).toFixed(1).padStart(7)} µs`);
  const lines = (all: Shares): string =>
    all.map(([name, share]) => `  ${(share * 100).toFixed(1).padStart(5)} %${micros(share)}  ${name}`).join("\n");
  const of = each === undefined ? "" : `, ${each.toFixed(0)} µs for each of ${requests} requests`;
  return `${title}: ${busyMs.toFixed(0)} ms of processor time${of}\n${lines(places)}\n\n${lines(functions)}\n`;
}

/** The package or folder whose code runs: Node's own functions and the machine's count for their callers. */
function placeOf(id: number, known: ReadonlyMap<number, ProfileNode>, callers: ReadonlyMap<number, number>): string {
  const own = known.get(id)?.callFrame;
  if (own?.url === "" && own.functionName.startsWith("(")) return own.functionName;
  for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) {
    const { url = "" } = known.get(at)?.callFrame ?? {};
    if (url !== "" && !url.startsWith("node:")) return folderOf(url);
  }
  return "node";
}

function folderOf(url: string): string {
  const [, scoped] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (scoped !== undefined) return scoped;
  return /\/((?:src|gateway|client|bench\/peers)\/(?:[^/]+))/.exec(url)?.[1] ?? "other";
}

function titleOf({ functionName, url, lineNumber }: CallFrame): string {
  if (url === "" && functionName.startsWith("(")) return functionName;
  return `${functionName || "(anonymous)"} ${shortened(url)}:${lineNumber + 1}`;
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
