// A server that responds as a test scripts it, and a clock that moves as soon as a client waits for nothing else.
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { Clock, Fetch } from "../../client/src/index.ts";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** How one request is served; nothing at all leaves it open. */
export type Step = (response: ServerResponse, seen: Seen) => void | Promise<void>;

/** A response with a JSON body, or with a text as it is. */
export function respond(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return (response) =>
    void response
      .writeHead(status, { "Content-Type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body));
}

/** The service's envelope. */
export function failure(status: number, message: string, headers: Record<string, string> = {}): Step {
  return respond(status, { error: { code: String(status), message } }, headers);
}

export const reset: Step = (response) => void response.socket?.resetAndDestroy();
export const silence: Step = () => undefined;

/** Starts a server of the test. Each request takes the next step; the last one continues for the rest. */
export async function scripted(...steps: Step[]): Promise<{ readonly url: string; readonly seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const one = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body: await text(request),
    };
    const step = steps[Math.min(seen.push(one), steps.length) - 1];
    await step?.(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export interface TestClock extends Clock {
  /** `fetch` as the client is to be given it: while one runs, time is paused. */
  readonly fetch: Fetch;
  /** The waits that ended by themselves, in milliseconds. */
  readonly waited: readonly number[];
  /** Lets time pass while a request runs: the timers that are due call back. */
  pass(milliseconds: number): void;
  timers(): number;
}

/** A clock at 0. It fires a timer at once when nothing else can happen. */
export function testClock(): TestClock {
  let now = 0;
  let running = 0;
  const timers = new Set<{ readonly set: number; readonly due: number; readonly callback: () => void }>();
  const waited: number[] = [];
  return {
    waited,
    now: () => now,
    timers: () => timers.size,
    after(milliseconds, callback) {
      const timer = { set: now, due: now + milliseconds, callback };
      timers.add(timer);
      setImmediate(() => {
        if (running > 0 || !timers.delete(timer)) return;
        waited.push(milliseconds);
        now = Math.max(now, timer.due);
        callback();
      });
      return () => void timers.delete(timer);
    },
    pass(milliseconds) {
      now += milliseconds;
      for (const timer of [...timers]) if (timer.due <= now && timers.delete(timer)) timer.callback();
    },
    async fetch(url, init) {
      running++;
      try {
        const response = await fetch(url, init);
        // Read here, because the time of a body is the time of its request.
        const body = await response.text();
        return new Response(body, { status: response.status, headers: response.headers });
      } finally {
        running--;
      }
    },
  };
}
