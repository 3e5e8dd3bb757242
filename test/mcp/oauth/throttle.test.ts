// The throttle of /mcp: by account with its common bucket, and by address without a valid token.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import { from } from "../../fixtures/service/from.ts";
import { accessToken, offerIntrospection, send, sendBatch } from "../../fixtures/sign-in/assistants.ts";
import { atOnce } from "../../guards/throttled.ts";
import { pipelined, tallied } from "../../http/pipelined.ts";

let fake: FakeProvider;
let service: TestService;
let second: TestService;
/** One at once, and one in a hundred seconds would be too slow a test: one a second. */
let tight: TestService;
/** How many tokens and users the tests have made. */
let made = 0;

beforeAll(async () => {
  fake = await startFakeProvider();
  offerIntrospection(fake, () => ({ active: true }));
  service = await startService({ ...fake.settings(), RATE_LIMIT: "10", RATE_BURST: "20", TRUST_PROXY: "1" });
  second = await service.another();
  tight = await service.another({ RATE_LIMIT: "1", RATE_BURST: "1" });
});
afterAll(async () => {
  await tight.stop();
  await second.stop();
  await service.stop();
  await fake.stop();
});

async function user(subject: string): Promise<string> {
  await newOwner(service, fake.issuer, subject, `${subject}@example.com`);
  return subject;
}
const post = (at: TestService, token: string | undefined, headers = from()): Promise<RestResponse> =>
  send(at.base, token === undefined ? undefined : `Bearer ${token}`, undefined, headers);
/** A token that each instance has seen; the user's bucket is full again. */
async function known(subject: string, ...instances: TestService[]): Promise<string> {
  const token = await accessToken(fake, { sub: subject, jti: `${subject}-${++made}` });
  for (const instance of instances) expect((await post(instance, token)).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 100 * instances.length + 100));
  return token;
}
/** As many as the bucket held, and those that ran into it meanwhile. */
function expectBucket({ passed, seconds }: { passed: number; seconds: number }): void {
  expect(passed).toBeGreaterThanOrEqual(20);
  expect(passed).toBeLessThanOrEqual(20 + Math.ceil(seconds * 10));
}

test("a user has one bucket of 20, refilled at 10 a second, over all instances, addresses and tokens [RTE-16]", async () => {
  const subject = await user("one-bucket");
  const tokens = [await known(subject, service, second), await known(subject, service, second)];
  const outcome = await atOnce(60, (turn) => post(turn % 2 === 0 ? service : second, tokens[(turn >> 1) % 2]));
  expectBucket(outcome);
  const other = await known(await user("another-bucket"), service);
  // The bucket of the first is empty still.
  const [mine, theirs] = await Promise.all([
    atOnce(30, () => post(service, tokens[0])),
    atOnce(15, () => post(service, other)),
  ]);
  expect([mine.passed < 30, theirs.passed]).toEqual([true, 15]);
});

test("a 429 has Retry-After, no RateLimit header, and a body that is also a JSON-RPC error [RTE-16]", async () => {
  const token = await known(await user("refused"), service);
  const { responses } = await atOnce(40, () => post(service, token));
  const rejected = responses.filter(({ status }) => status === 429);
  expect(rejected.length).toBeGreaterThan(0);
  for (const { status, headers, body } of responses) {
    for (const name of [...headers.keys()]) expect(name).not.toMatch(/^(x-)?ratelimit/);
    expect(headers.get("x-request-id")).toMatch(/^[\w-]{1,128}$/);
    if (status !== 429) expect([status, headers.get("retry-after")]).toEqual([200, null]);
    else {
      expect([headers.get("retry-after"), headers.get("content-type"), headers.get("www-authenticate")]).toEqual([
        "1",
        "application/json; charset=utf-8",
        null,
      ]);
      expect(body).toEqual({
        jsonrpc: "2.0",
        id: null,
        error: { code: "429", message: "Too many requests. Try again in 1 second.", reason: "RATE_LIMITED" },
      });
    }
  }
});

const batch = (at: TestService, token: string, count: number, before?: string): Promise<RestResponse> =>
  sendBatch(at.base, token, count, { before, headers: from() });

test("every message of a batch takes a token; a batch without enough tokens is rejected and takes one [RTE-25, RTE-16]", async () => {
  const slow = await service.another({ RATE_LIMIT: "1", RATE_BURST: "20" });
  try {
    const token = await known(await user("batches"), slow);
    const began = performance.now();
    expect((await batch(slow, token, 9)).status).toBe(200);
    const rejected = await batch(slow, token, 19);
    const wait = Number(rejected.headers.get("retry-after"));
    expect([rejected.status, rejected.body]).toEqual([
      429,
      {
        jsonrpc: "2.0",
        id: null,
        error: { code: "429", message: `Too many requests. Try again in ${wait} seconds.`, reason: "RATE_LIMITED" },
      },
    ]);
    // Of 20 tokens, known() took 1, the batch 9, and the rejected batch 1.
    const most = 9 + Math.ceil((performance.now() - began) / 1_000);
    expect(wait).toBeLessThanOrEqual(18 - 9 + 1);
    expect(wait).toBeGreaterThanOrEqual(18 - most);
    const { passed } = await atOnce(30, () => post(slow, token));
    expect(passed).toBeGreaterThanOrEqual(9);
    expect(passed).toBeLessThanOrEqual(9 + Math.ceil((performance.now() - began) / 1_000));
  } finally {
    await slow.stop();
  }
});

test("a rejected batch succeeds after its wait, although its first message takes a token each time [RTE-03, RTE-25]", async () => {
  const slow = await service.another({ RATE_LIMIT: "1", RATE_BURST: "4" });
  try {
    const token = await known(await user("patient-batch"), slow);
    for (let wait = 0; wait === 0; ) wait = Number((await batch(slow, token, 2)).headers.get("retry-after") ?? 0);
    // Enough for the first message, and not for all.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const rejected = await batch(slow, token, 3);
    expect(rejected.status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, Number(rejected.headers.get("retry-after")) * 1_000));
    expect((await batch(slow, token, 3)).status).toBe(200);
  } finally {
    await slow.stop();
  }
});

test("a batch with more messages than a bucket holds is 422, because no wait would help [RTE-25]", async () => {
  const token = await known(await user("long-batch"), service);
  // The library strips a byte order mark, which must not hide the batch from the throttle.
  for (const before of ["", "\uFEFF"]) {
    const { status, body } = await batch(service, token, 21, before);
    expect([status, body.error.message]).toEqual([422, "a batch must have at most 20 messages"]);
  }
});

test("a request without a valid token takes from the address's bucket, and a new valid token from its account [RTE-16, RTE-11, RTE-21]", async () => {
  const subject = await user("newcomer");
  for (const make of [async () => undefined, async (turn: number) => `garbage-${turn}`]) {
    const headers = from();
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, turn) => make(turn)));
    const { passed, seconds } = await atOnce(12, (turn) => post(tight, tokens[turn], headers));
    expect(passed).toBeLessThanOrEqual(2 + Math.floor(seconds));
    expect((await post(tight, tokens[0], from())).status).not.toBe(429);
    expect((await post(tight, await accessToken(fake, { sub: await user(`valid-${++made}`) }), headers)).status).toBe(
      200,
    );
  }
  const tokens = await Promise.all(
    Array.from({ length: 12 }, (_, turn) => accessToken(fake, { sub: subject, jti: `new-${turn}-${++made}` })),
  );
  const { passed, seconds } = await atOnce(12, (turn) => post(tight, tokens[turn]));
  expect(passed).toBeLessThanOrEqual(2 + Math.floor(seconds));
});

test("a user's assistants and the key of their account share one bucket, which is not that of the address [RTE-16, RTE-09]", async () => {
  const subject = await user("shared");
  const headers = from();
  const began = performance.now();
  // Takes the only token of the bucket.
  const token = await known(subject, tight);
  const account = (await service.app.services.accounts.ofIdentity({ issuer: fake.issuer, subject }, undefined))?._id;
  if (account === undefined) throw new Error("no account");
  const { secret: key } = await service.app.services.apiKeys.create(account, "read_write");
  const { passed } = await atOnce(12, (turn) =>
    turn % 2 === 0 ? post(tight, token, headers) : tight.rest("/v1/sessions", { key, headers }),
  );
  // The bucket refills by one a second. The clocks of the test and of Redis may differ a little.
  expect(passed).toBeLessThanOrEqual(Math.floor((performance.now() - began) / 1_000 + 0.1));
  expect((await tight.rest("/v1/sessions", { headers })).status).toBe(401);
});

test("a preflight takes a token from the bucket of documents [RTE-16, RTE-24]", async () => {
  const headers = Object.entries(from()).map((pair) => pair.join(": "));
  // Far more than the bucket refills by while they are served, even on a slow machine.
  const {
    204: passed,
    429: rejected,
    ...others
  } = tallied(await pipelined(tight.base, "/mcp", 2_000, () => headers, "OPTIONS"));
  expect(others).toEqual({});
  expect(passed).toBeGreaterThanOrEqual(100);
  expect(rejected).toBeGreaterThan(0);
});
