// `npm run evals -- --latency`: the time of a tool call and of the same read over REST, call by call in one run.
import { setTimeout as sleep } from "node:timers/promises";
import type { Demo } from "./instance.ts";
import type { Contact } from "./records.ts";
import { nameOf } from "./records.ts";

/** The medians of a pace, in milliseconds. */
export interface Latency {
  readonly pace: string;
  readonly rest: number;
  readonly tool: number;
}

/** A pace: so many pairs of calls, each after such a pause. */
interface Pace {
  readonly name: string;
  readonly pairs: number;
  readonly pauseMs: number;
}

/** A model calls one tool after the other, or thinks in between: longer than the service keeps an introspection. */
const paces: readonly Pace[] = [
  { name: "one after the other", pairs: 400, pauseMs: 0 },
  { name: "every 10 seconds", pairs: 20, pauseMs: 10_000 },
];
/** Not measured: both sides have code to compile. */
const warmUps = 300;

/** Measures the same search over REST and by the tool, by turns. */
export async function measureLatency(
  { base, key, token, records }: Demo,
  say: (text: string) => void,
): Promise<Latency[]> {
  const query = nameOf(records.contacts[0] as Contact);
  const overRest = (): Promise<number> =>
    took(`${base}/v1/contacts?query=${encodeURIComponent(query)}`, { headers: { Authorization: `Bearer ${key}` } });
  const byTool = (): Promise<number> => {
    const params = { name: "search_contacts", arguments: { query } };
    return took(`${base}/mcp`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
      },
    });
  };
  for (let turn = 0; turn < warmUps; turn++) {
    await overRest();
    await byTool();
  }
  const latencies: Latency[] = [];
  for (const { name, pairs, pauseMs } of paces) {
    say(`measuring ${name} …`);
    const [rest, tool]: [number[], number[]] = [[], []];
    for (let pair = 0; pair < pairs; pair++) {
      await sleep(pauseMs);
      rest.push(await overRest());
      await sleep(pauseMs);
      tool.push(await byTool());
    }
    latencies.push({ pace: name, rest: median(rest), tool: median(tool) });
    say(`${name}: ${(median(tool) / median(rest)).toFixed(2)} times REST, by ${pairs} pairs`);
  }
  return latencies;
}

/** How long a request takes until its body has arrived, in milliseconds. Fails where it is not a success. */
async function took(url: string, init: RequestInit): Promise<number> {
  const begun = performance.now();
  const response = await fetch(url, init);
  const text = await response.text();
  const ms = performance.now() - begun;
  if (!response.ok || text.includes('"isError":true')) throw new Error(`${url}: ${response.status} ${text}`);
  return ms;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
