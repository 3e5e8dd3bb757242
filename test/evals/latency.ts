// `npm run evals -- --latency`: compares the latency of a tool call with that of the same read over REST.
import { setTimeout as sleep } from "node:timers/promises";
import type { Demo } from "./instance.ts";
import type { Contact } from "./records.ts";
import { nameOf } from "./records.ts";

/** Median latencies at a pace, in milliseconds. */
export interface Latency {
  readonly pace: string;
  readonly rest: number;
  readonly tool: number;
}

/** A number of pairs of calls, and the pause before each. */
interface Pace {
  readonly name: string;
  readonly pairs: number;
  readonly pauseMs: number;
}

/** A model calls tools back to back, or pauses for longer than the service caches an introspection. */
const paces: readonly Pace[] = [
  { name: "back to back", pairs: 400, pauseMs: 0 },
  { name: "every 10 seconds", pairs: 20, pauseMs: 10_000 },
];
/** Unmeasured calls for warming up both sides. */
const warmUps = 300;

/** Measures the same search over REST and with the tool, alternating between them. */
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
    say(`${name}: ${(median(tool) / median(rest)).toFixed(2)} times REST, ${pairs} pairs`);
  }
  return latencies;
}

/** The milliseconds until a response is complete. Throws unless it is a success. */
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
