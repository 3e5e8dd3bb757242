// The clients' traffic: sends requests to a version, retries them, and checks every failure.
import { setTimeout as sleep } from "node:timers/promises";
import { childToken } from "../../fixtures/service/child.ts";
import type { Reply } from "../load/connection.ts";
import { requestText } from "../load/connection.ts";
import type { Fleet, Member, Version } from "./fleet.ts";
import { otherThan } from "./fleet.ts";

/** A request, its target and the expected statuses. */
export interface Request {
  /** The version that gets it first. Retries of a write alternate between the versions. */
  readonly to: Version;
  /** Description for people. */
  readonly what: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** The API key. Without it and a cookie, the request goes to the internal listener with the service token. */
  readonly key?: string | undefined;
  readonly cookie?: string;
  readonly idempotencyKey?: string;
  readonly body?: unknown;
  readonly expect: readonly number[];
}

export interface ExpectedResponse {
  readonly reply: Reply;
  /** The number of previous attempts with an unknown outcome. */
  readonly unconfirmed: number;
  readonly by: Member;
}

/** When a fault explains failures, in milliseconds of `performance.now()`; `to` is Infinity while it lasts. */
export interface Window {
  readonly from: number;
  to: number;
}

/** A response or an error that no fault explains. It is already among the violations. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
}

/** Sends requests and checks the responses. */
export interface Traffic {
  /** Retries until it gets an expected status. Rejects with Unexpected on any other status than 503, or on none. */
  send(request: Request): Promise<ExpectedResponse>;
  violation(words: string): void;
  /** All violations, including failures that no fault explains. */
  violations(): string[];
  figures(): Record<string, number>;
}

/** Twice the time limit of a request. */
const patienceMs = 10_000;
const pauseMs = 100;
const givesUpAfterMs = 60_000;

/** Traffic to a fleet. Windows are added while it runs. */
export function createTraffic(fleet: Fleet, windows: readonly Window[]): Traffic {
  const wrong: string[] = [];
  const unavailable: { readonly words: string; readonly from: number; readonly to: number }[] = [];
  const served = { old: 0, new: 0 };
  let [pending, failed, slowestMs] = [0, 0, 0];
  const explained = (from: number, to: number): boolean =>
    windows.some((window) => to > window.from && from < window.to);

  function fail(words: string): never {
    wrong.push(words);
    throw new Unexpected(words);
  }

  return {
    async send(request) {
      const { to, method, expect } = request;
      const until = performance.now() + givesUpAfterMs;
      for (let attempt = 0; performance.now() < until; attempt++) {
        const by = fleet.pick(method === "GET" || attempt % 2 === 0 ? to : otherThan(to));
        const from = performance.now();
        const what = `${request.what} (${method} ${request.path}) to the ${by.version} version`;
        const reply = await responseOf(by, request);
        const ms = performance.now() - from;
        if (typeof reply === "string") {
          // Checked after the response failed: the instance may have been killed meanwhile.
          const excused = by.state === "killed" || (by.state === "leaving" && reply === "ECONNREFUSED");
          if (!excused) fail(`${what} had no response: ${reply}`);
          pending += 1;
        } else if (reply.status === 503) {
          unavailable.push({
            words: `${what} got 503 after ${Math.round(ms)} ms: ${reply.body}`,
            from,
            to: performance.now(),
          });
        } else if (reply.status === 500 && by.version === "old" && explained(from, performance.now())) {
          // Its log shows whether it is the known flaw of the release or another violation.
          failed += 1;
        } else {
          served[by.version] += 1;
          slowestMs = Math.max(slowestMs, ms);
          if (!expect.includes(reply.status))
            fail(`${what} got ${reply.status} instead of ${expect.join(" or ")}: ${reply.body}`);
          return { reply, unconfirmed: attempt, by };
        }
        await sleep(pauseMs);
      }
      return fail(`${request.what} was not served within ${givesUpAfterMs / 1_000} s`);
    },
    violation: (words) => void wrong.push(words),
    violations() {
      const unexplained = unavailable.filter(({ from, to }) => !explained(from, to));
      return [...wrong, ...unexplained.map(({ words }) => `${words}, which no fault explains`)];
    },
    figures: () => ({
      "responses of the old version": served.old,
      "responses of the new version": served.new,
      ...{
        "503": unavailable.length,
        "500 from the old version during a fault": failed,
        "without a response": pending,
        "slowest response, ms": slowestMs,
      },
    }),
  };
}

/** The response, or why there is none. */
async function responseOf(
  member: Member,
  { method, path, key, cookie, idempotencyKey, body }: Request,
): Promise<Reply | string> {
  const inside = key === undefined && cookie === undefined;
  const headers = {
    ...(cookie === undefined
      ? { Authorization: `Bearer ${key ?? childToken}` }
      : { Cookie: cookie, Origin: member.instance.base.replace("127.0.0.1", "localhost") }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  };
  const pool = inside ? member.internal : member.public;
  const late = sleep(patienceMs, `none within ${patienceMs / 1_000} s`, { ref: false });
  const reply = pool
    .send(requestText(method, path, headers, body))
    .catch((error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)));
  return Promise.race([reply, late]);
}
