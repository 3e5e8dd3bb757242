// Fifty requests at once with one key over two instances, whatever Redis does: one write, and the same bytes for all.
import { beforeAll, describe, expect, test } from "vitest";
import type { TestAccount } from "../fixtures/service/service.ts";
import { recordsOf } from "../fixtures/records/stored.ts";
import { useTwoInstances } from "./two-instances.ts";
import type { WireResponse } from "../fixtures/clients/idempotent-writes.ts";
import { wires } from "../fixtures/clients/idempotent-writes.ts";
import { inForm } from "../support/form.ts";

const width = 50;
const { service, other, redis } = useTwoInstances();

// Connections are open and keys are known before anyone counts.
beforeAll(async () => {
  await atOnce(await service().account(), "warm", "REST");
});

/**
 * What fifty responses and the database show together: `{first: 1, replays: 49, responses: 1, written: 1}` is exactly
 * once.
 */
interface Verdict {
  readonly first: number;
  readonly replays: number;
  readonly responses: number;
  readonly written: number;
}

const exactlyOnce: Verdict = { first: 1, replays: width - 1, responses: 1, written: 1 };

function verdict(responses: readonly WireResponse[], written: number): Verdict {
  expect(responses.filter(({ outcome }) => outcome !== "ok").map(({ outcome, text }) => `${outcome} ${text}`)).toEqual(
    [],
  );
  return {
    first: responses.filter(({ replayed }) => !replayed).length,
    replays: responses.filter(({ replayed }) => replayed).length,
    responses: new Set(responses.map(({ text }) => text)).size,
    written,
  };
}

/** Fifty creates over both instances. */
async function atOnce(account: TestAccount, key: string, wire: keyof typeof wires): Promise<Verdict> {
  const target = (at: number) => ({ base: at % 2 === 0 ? service().base : other().base, key: account.key });
  const responses = await Promise.all(
    Array.from({ length: width }, (_, at) =>
      wires[wire].create(target(at), key, { full_name: "Fifty", email: "fifty@example.com" }),
    ),
  );
  return verdict(responses, (await recordsOf(service().app.client, account)).contacts);
}

/** Fifty appends over both instances. */
async function appendAtOnce(account: TestAccount, wire: keyof typeof wires): Promise<Verdict> {
  const { id } = await wires.REST.create({ base: service().base, key: account.key }, "parent", { full_name: "Parent" });
  const bases = [service().base, other().base];
  const responses = await Promise.all(
    Array.from({ length: width }, (_, at) =>
      wires[wire].append({ base: bases[at % 2] ?? "", key: account.key }, "note", id, "once"),
    ),
  );
  return verdict(responses, (await recordsOf(service().app.client, account)).notes);
}

const names = Object.keys(wires) as (keyof typeof wires)[];

describe.each(names)("over %s", (wire) => {
  test("fifty creates with one key write one contact [IDM-16, IDM-11]", async () => {
    expect(await atOnce(await service().account(), "k", wire)).toEqual(exactlyOnce);
  });
  test("fifty appends with one key write one note [IDM-16, IDM-11]", async () => {
    expect(await appendAtOnce(await service().account(), wire)).toEqual(exactlyOnce);
  });
});

test("fifty concurrent requests over all wires write one contact [IDM-09, IDM-16]", async () => {
  const account = await service().account();
  const target = (at: number) => ({ base: at % 3 === 0 ? service().base : other().base, key: account.key });
  const responses = await Promise.all(
    Array.from({ length: width }, (_, at) =>
      wires[names[at % names.length] ?? "REST"].create(target(at), "k", { full_name: "Mixed" }),
    ),
  );
  expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
  expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect((await recordsOf(service().app.client, account)).contacts).toBe(1);
});

test("fifty requests of which every second one has another body write one contact; the others are rejected [IDM-10, IDM-16]", async () => {
  const account = await service().account();
  // One instance alone would shed two of fifty as overload, if all arrive before the first response.
  const target = (at: number) => ({ base: at % 4 < 2 ? service().base : other().base, key: account.key });
  const responses = await Promise.all(
    Array.from({ length: width }, (_, at) =>
      wires.REST.create(target(at), "k", { full_name: at % 2 === 0 ? "Even" : "Odd" }),
    ),
  );
  const outcomes = responses.map(({ outcome }, at) => `${at % 2} ${outcome}`);
  expect([new Set(outcomes).size, outcomes.filter((outcome) => outcome.endsWith("ok")).length]).toEqual([2, width / 2]);
  expect((await recordsOf(service().app.client, account)).contacts).toBe(1);
});

test("fifty creates while Redis is flushed repeatedly write one contact [IDM-17]", async () => {
  let flushing = true;
  const flushes = (async () => {
    while (flushing) await redis().flushall();
  })();
  for (let round = 0; round < inForm(2, 5); round++)
    expect(await atOnce(await service().account(), "k", "REST")).toEqual(exactlyOnce);
  flushing = false;
  await flushes;
});

test("fifty concurrent requests for one email under fifty keys write one contact; the others are rejected and leave no claim [IDM-12]", async () => {
  const account = await service().account();
  const responses = await Promise.all(
    Array.from({ length: width }, (_, at) =>
      wires.REST.create({ base: at % 2 === 0 ? service().base : other().base, key: account.key }, `k${at}`, {
        full_name: "One",
        email: "one@example.com",
      }),
    ),
  );
  expect(responses.filter(({ outcome }) => outcome === "ok")).toHaveLength(1);
  expect(responses.filter(({ outcome }) => outcome === "409")).toHaveLength(width - 1);
  expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("while Redis is frozen fifty creates and fifty appends write one record each, and so do repetitions afterwards [IDM-17]", async () => {
  const account = await service().account();
  process.kill(service().redis.pid, "SIGSTOP");
  try {
    expect(await atOnce(account, "k", "REST")).toEqual(exactlyOnce);
    expect(await appendAtOnce(await service().account(), "gRPC")).toEqual(exactlyOnce);
  } finally {
    process.kill(service().redis.pid, "SIGCONT");
  }
  await expect.poll(() => redis().ping(), { timeout: 5_000 }).toBe("PONG");
  expect(await atOnce(account, "k", "REST")).toEqual({ ...exactlyOnce, first: 0, replays: width });
});

test("fifty creates during which Redis freezes write one contact [IDM-17]", async () => {
  const account = await service().account();
  setTimeout(() => process.kill(service().redis.pid, "SIGSTOP"), 3);
  try {
    expect(await atOnce(account, "k", "REST")).toEqual(exactlyOnce);
  } finally {
    process.kill(service().redis.pid, "SIGCONT");
  }
});
