// Set-up for tests of the throttle: two instances, many requests at once, and the expected rejection.
import { afterAll, beforeAll, expect } from "vitest";
import type { RestResponse, RestCall, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

/** Instances that share their Redis and trust one proxy. */
export interface Throttled {
  /** The limits of the contract: 10 requests a second, 20 at once. */
  service(): TestService;
  /** One request at once and one a second: nearly all of many requests at once are rejected. */
  tight(): TestService;
}

/** Starts both before the tests of the file and stops them after the tests. */
export function useThrottled(): Throttled {
  let service: TestService;
  let tight: TestService;
  beforeAll(async () => {
    service = await startService({ RATE_LIMIT: "10", RATE_BURST: "20", TRUST_PROXY: "1" });
    tight = await service.another({ RATE_LIMIT: "1", RATE_BURST: "1" });
  });
  afterAll(async () => {
    await tight.stop();
    await service.stop();
  });
  return { service: () => service, tight: () => tight };
}

/** The result of many requests at once. */
export interface AtOnce {
  readonly responses: RestResponse[];
  /** How many were not 429. */
  readonly passed: number;
  readonly seconds: number;
}

export async function atOnce(count: number, send: (turn: number) => Promise<RestResponse>): Promise<AtOnce> {
  const began = performance.now();
  const responses = await Promise.all(Array.from({ length: count }, (_, turn) => send(turn)));
  const passed = responses.filter(({ status }) => status !== 429).length;
  return { responses, passed, seconds: (performance.now() - began) / 1_000 };
}

export function expectRejected({ status, headers, body }: RestResponse): void {
  expect(status).toBe(429);
  expect(headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  expect(body.error).toMatchObject({ code: "429", message: "Too many requests. Try again in 1 second." });
}

/** Sends 12 requests at once to the tight instance: it rejects all but the first and one for each second. */
export async function expectThrottled(tight: TestService, path: string, call: RestCall): Promise<void> {
  const { responses, passed, seconds } = await atOnce(12, () => tight.rest(path, call));
  expect(passed, `${call.method ?? "GET"} ${path}`).toBeLessThanOrEqual(2 + Math.floor(seconds));
  for (const response of responses.filter(({ status }) => status === 429)) {
    if (call.method === "HEAD") expect(response.text).toBe("");
    else expectRejected(response);
  }
}
