// The primary changes under writes with keys: nothing is lost, nothing doubled; and commits that are broken are caught.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type * as Write from "../../src/db/write.ts";
import { recordsOf } from "../idempotency/stored.ts";
import { wires } from "../idempotency/wires.ts";
import { startThreeMongods, withFault } from "../support/own-mongod.ts";
import type { TestService } from "../support/service.ts";
import { breakCommit } from "./broken-commit.ts";
import type { Hurt } from "./hurt.ts";
import { startHurt } from "./hurt.ts";
import type { Acknowledged } from "./stream.ts";
import { judge, runStream } from "./stream.ts";

vi.mock("../../src/db/write.ts", async (original) => {
  const { breakable } = await import("./broken-commit.ts");
  return breakable(await original<typeof Write>());
});

let hurt: Hurt;
let one: TestService;
let two: TestService;
let client: MongoClient;

beforeAll(async () => {
  hurt = await startHurt(startThreeMongods);
  [one, two] = [await hurt.instance(), await hurt.instance()];
  client = await MongoClient.connect(hurt.mongod.uri);
});
beforeEach(async () => {
  await hurt.mongod.revive();
});
afterEach(() => {
  breakCommit(undefined);
});
afterAll(async () => {
  await client.close();
  await hurt.stop();
});

/** Where the primary is. */
async function primary(): Promise<string> {
  for (;;) {
    const hello = await client.db("admin").command({ hello: 1 }).catch(() => undefined);
    if (hello?.["isWritablePrimary"] === true) return String(hello["me"]);
    await sleep(100);
  }
}

/** SIGKILL to the member there. */
function killMember(host: string): void {
  const member = hurt.mongod.members.find(({ uri }) => uri.includes(host)) ?? expect.fail(`no member ${host}`);
  process.kill(member.pid, "SIGKILL");
}

test("four clients write through a stepdown and the loss of a primary: every acknowledged write is there, once [IDM-18, OPS-17]", async () => {
  const account = await one.account();
  const seen: string[] = [];
  let heard = 0;
  /** The stream goes on: this many writes more are acknowledged. */
  const goesOn = async (more: number): Promise<void> => {
    const until = heard + more;
    await expect.poll(() => heard, { timeout: 30_000 }).toBeGreaterThanOrEqual(until);
  };
  const faults = async (): Promise<void> => {
    await goesOn(20);
    seen.push(await primary());
    await client.db("admin").command({ replSetStepDown: 5, force: true }).catch(() => undefined);
    await goesOn(20);
    seen.push(await primary());
    killMember(seen[1] ?? "");
    await goesOn(20);
    seen.push(await primary());
  };
  const result = await runStream({ bases: () => [one.base, two.base], key: account.key, clients: 4, during: faults(), onAcknowledged: () => (heard += 1) });
  // The primary was another one each time.
  expect([seen[0] === seen[1], seen[1] === seen[2]]).toEqual([false, false]);
  expect(await judge(client, account.id, result.acknowledged)).toEqual({ acknowledged: heard, lost: 0, doubled: 0, unasked: 0 });
});

/** Writes to a primary that nobody follows any more, kills it, and judges what its successor holds. */
async function writtenToALonelyPrimary(): Promise<{ acknowledged: number; lost: number }> {
  const account = await one.account();
  const host = await primary();
  const followers = hurt.mongod.members.map(({ uri }) => new URL(uri).host).filter((other) => other !== host);
  const admins = await Promise.all(followers.map((other) => MongoClient.connect(`mongodb://${other}/?directConnection=true`)));
  const follow = (mode: string): Promise<unknown> => Promise.all(admins.map((admin) => admin.db("admin").command({ configureFailPoint: "stopReplProducer", mode })));
  // The key of the account has to be known to all before they stop following.
  await wires.REST.create({ base: one.base, key: account.key }, "before", { full_name: "before" });
  await follow("alwaysOn");
  const names = ["a", "b", "c", "d", "e"];
  const answers = await Promise.all(names.map((name) => wires.REST.create({ base: one.base, key: account.key }, name, { full_name: name })));
  killMember(host);
  await follow("off");
  await primary();
  for (const admin of admins) await admin.close();
  const acknowledged = answers.flatMap(({ outcome, id }, at): Acknowledged[] => (outcome === "ok" ? [{ name: names[at] ?? "", id, collection: "contacts" }] : []));
  const { lost } = await judge(client, account.id, acknowledged);
  return { acknowledged: acknowledged.length, lost };
}

test("what a primary alone knows is not acknowledged [IDM-18]", async () => {
  expect(await writtenToALonelyPrimary()).toEqual({ acknowledged: 0, lost: 0 });
});

test("a commit that waits for no majority is caught: what it acknowledged is lost [IDM-18]", async () => {
  breakCommit("by the primary alone");
  expect(await writtenToALonelyPrimary()).toEqual({ acknowledged: 5, lost: 5 });
});

/** A create whose claim cannot be written the first time, and its retry: how many contacts there are then. */
async function contactsAfterAFailedClaim(): Promise<number> {
  const account = await one.account();
  const send = () => wires.REST.create({ base: two.base, key: account.key }, "k", { full_name: "Once" });
  const fault = { failCommands: ["update"], errorCode: 8, namespace: "records.idempotency", appName: "records" };
  const first = await withFault(`mongodb://${await primary()}/?directConnection=true`, { times: 1 }, fault, send);
  expect([first.outcome, (await send()).outcome]).toEqual(["500", "ok"]);
  return (await recordsOf(client, account)).contacts;
}

test("a claim that cannot be written takes its contact with it [IDM-15]", async () => {
  expect(await contactsAfterAFailedClaim()).toBe(1);
});

test("a claim that is written after its contact is caught: there are two contacts [IDM-15]", async () => {
  breakCommit("claim after the resource");
  expect(await contactsAfterAFailedClaim()).toBe(2);
});
