// Which address's bucket a request without a key takes from: the peer's, or the one that our outermost proxy
// saw.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

const limits = { RATE_LIMIT: "1", RATE_BURST: "1" };
/** The instances by their TRUST_PROXY; each with its own Redis, so that they do not share buckets. */
const services: TestService[] = [];

beforeAll(async () => {
  for (const TRUST_PROXY of ["0", "1", "2"]) services.push(await startService({ ...limits, TRUST_PROXY }));
});
afterAll(async () => {
  for (const service of services) await service.stop();
});

/** Sends one request for every header at once, and returns how many passed; one token a second refills. */
async function passed(trustProxy: number, headers: readonly string[]): Promise<number> {
  const service = services[trustProxy] as TestService;
  const responses = await Promise.all(
    headers.map((value) => service.rest("/v1/health", { headers: { "X-Forwarded-For": value } })),
  );
  return responses.filter(({ status }) => status === 200).length;
}

/** Ten numbers, to be put into addresses. */
const ten = Array.from({ length: 10 }, (_, turn) => turn);

test("ignores X-Forwarded-For without a proxy: a caller cannot choose its bucket [RTE-12, RTE-11]", async () => {
  expect(
    await passed(
      0,
      ten.map((turn) => `10.0.0.${turn}`),
    ),
  ).toBeLessThanOrEqual(2);
});

test("behind one proxy the last entry counts, which is the proxy's: every address has a bucket [RTE-12, RTE-11]", async () => {
  expect(
    await passed(
      1,
      ten.map((turn) => `10.1.0.${turn}`),
    ),
  ).toBe(10);
  expect(
    await passed(
      1,
      ten.map((turn) => `10.9.9.9, 10.1.1.${turn}`),
    ),
  ).toBe(10);
});

test("behind one proxy an entry that the caller wrote does not count [RTE-12]", async () => {
  expect(
    await passed(
      1,
      ten.map((turn) => `203.0.113.${turn}, 10.2.0.1`),
    ),
  ).toBeLessThanOrEqual(2);
  expect(
    await passed(
      1,
      ten.map((turn) => `${"x,".repeat(turn)} 10.2.0.2`),
    ),
  ).toBeLessThanOrEqual(2);
});

test("behind two proxies the last but one counts [RTE-12]", async () => {
  expect(
    await passed(
      2,
      ten.map((turn) => `10.3.0.${turn}, 192.0.2.1`),
    ),
  ).toBe(10);
  expect(
    await passed(
      2,
      ten.map((turn) => `203.0.113.${turn}, 10.4.0.1, 192.0.2.1`),
    ),
  ).toBeLessThanOrEqual(2);
});

test("behind a proxy that sends no header the peer's own address counts [RTE-12]", async () => {
  const service = services[1] as TestService;
  const responses = await Promise.all(ten.map(() => service.rest("/v1/health")));
  expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2);
});
