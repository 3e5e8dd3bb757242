// Which address's bucket a request without a key takes from: the peer's, or the one that our outermost proxy
// saw. One proxy is in throttle, and the entries that are no address are in addresses.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { from } from "../fixtures/service/from.ts";
import { atOnce } from "./throttled.ts";

let direct: TestService;
let behindTwo: TestService;

beforeAll(async () => {
  direct = await startService({ RATE_LIMIT: "1", RATE_BURST: "1", TRUST_PROXY: "0" });
  behindTwo = await direct.another({ TRUST_PROXY: "2" });
});
afterAll(async () => {
  await behindTwo.stop();
  await direct.stop();
});

/** How many of ten requests at once pass, each with its own header; one token a second refills. */
async function passed(service: TestService, header: (turn: number) => string): Promise<number> {
  return (await atOnce(10, (turn) => service.rest("/v1/health", { headers: from(header(turn)) }))).passed;
}

test("ignores X-Forwarded-For without a proxy: a caller cannot choose its bucket [RTE-12, RTE-11]", async () => {
  expect(await passed(direct, (turn) => `10.0.0.${turn}`)).toBeLessThanOrEqual(2);
});

test("behind two proxies the last but one entry counts, and none that the caller wrote before it [RTE-12, RTE-11]", async () => {
  expect(await passed(behindTwo, (turn) => `10.3.0.${turn}, 192.0.2.1`)).toBe(10);
  expect(await passed(behindTwo, (turn) => `203.0.113.${turn}, 10.4.0.1, 192.0.2.1`)).toBeLessThanOrEqual(2);
  expect(await passed(behindTwo, (turn) => `${"x,".repeat(turn)} 10.4.0.2, 192.0.2.1`)).toBeLessThanOrEqual(2);
});
