// Counts the calls of functions per request by V8's precise coverage. Unlike times, the counts are the same each time.
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { placeOfUrl, shortUrl } from "./profile.ts";

/** The used parts of a file of coverage. The first range of a function counts its calls. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

type Counts = readonly (readonly [name: string, perRequest: number])[];

/** Calls per request by package or folder, and by function of the service. */
export interface Calls {
  /** Calls of the functions in `src`, `gateway` or the peer. */
  readonly own: number;
  readonly places: Counts;
  readonly functions: Counts;
}

/** Options and environment with which Node counts calls, and writes them to a folder on SIGUSR2. */
export function counting(folder: string): {
  readonly nodeOptions: string[];
  readonly environment: Record<string, string>;
} {
  return {
    nodeOptions: ["--import", join(import.meta.dirname, "counted.js")],
    environment: { NODE_V8_COVERAGE: folder },
  };
}

/** Counts the calls in a process during the work, which returns its number of requests. */
export async function countCalls(pid: number, folder: string, work: () => Promise<number>): Promise<Calls> {
  await take(pid, folder);
  const requests = await work();
  return callsOf(JSON.parse(await take(pid, folder)) as Coverage, requests);
}

function callsOf({ result }: Coverage, requests: number): Calls {
  const [places, functions] = [new Map<string, number>(), new Map<string, number>()];
  let own = 0;
  for (const { url, functions: counted } of result) {
    if (!url.startsWith("file:")) continue;
    const place = placeOfUrl(url);
    const isOwn = /\/(?:src|gateway|peers)\/[^:]*$/.test(url) && !url.includes("/node_modules/");
    for (const { functionName, ranges } of counted) {
      const count = (ranges[0]?.count ?? 0) / requests;
      // tsx adds calls of `__name`.
      if (count < 0.01 || functionName === "__name") continue;
      places.set(place, (places.get(place) ?? 0) + count);
      if (!isOwn) continue;
      own += count;
      const name = `${functionName || "(anonymous)"} ${shortUrl(url)}`;
      functions.set(name, (functions.get(name) ?? 0) + count);
    }
  }
  return { own, places: sorted(places), functions: sorted(functions) };
}

export function callsText(title: string, { own, places, functions }: Calls): string {
  const lines = (counts: Counts): string =>
    counts.map(([name, count]) => `  ${count.toFixed(1).padStart(8)}  ${name}`).join("\n");
  return `${title}: ${own.toFixed(0)} calls of our functions per request\n${lines(places)}\n\n${lines(functions)}\n`;
}

/** Lets the process write its counts, and returns them. */
async function take(pid: number, folder: string): Promise<string> {
  process.kill(pid, "SIGUSR2");
  for (;;) {
    await sleep(200);
    const [file] = filesIn(folder);
    const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
    if (!text.endsWith("}")) continue;
    rmSync(join(folder, file as string));
    return text;
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function sorted(counts: ReadonlyMap<string, number>): Counts {
  return [...counts].sort(([, a], [, b]) => b - a);
}
