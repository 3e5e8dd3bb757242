// One key over every pair of wires: what one wire wrote, every other replays in its own form.
import { describe, expect, test } from "vitest";
import type { TestAccount } from "../fixtures/service/service.ts";
import { archive, recordsOf } from "../fixtures/records/stored.ts";
import { useTwoInstances } from "./two-instances.ts";
import { wires } from "../fixtures/clients/idempotent-writes.ts";

const { service, other, redis } = useTwoInstances();

const names = Object.keys(wires) as (keyof typeof wires)[];
const pairs = names.flatMap((first) => names.map((second) => [first, second] as const));
const ana = { full_name: "Ana", email: "Ana@Example.com" };

/** The REST body of a new contact, spelt out, for an id and an instant that any wire returned. */
function contactBody(id: string, at: string): string {
  return (
    `{"data":{"id":"${id}","full_name":"Ana","email":"Ana@Example.com","phone":null,"notes":null,"memory":null,"created_at":"${at}","updated_at":"${at}",` +
    `"notes_timeline":[],"recent_sessions":[],"inferred_name":null,"archived_at":null}}`
  );
}

/** The same for the message's JSON on the other wires, which leaves out what is not set. */
function contactMessage(id: string, at: string): string {
  return `{"contact":{"id":"${id}","fullName":"Ana","email":"Ana@Example.com","createdAt":"${at}","updatedAt":"${at}"}}`;
}

async function storedInstant(account: TestAccount): Promise<string> {
  const [contact] = await service()
    .app.client.db()
    .collection("contacts")
    .find({ email_key: "ana@example.com" })
    .sort({ created_at: -1 })
    .limit(1)
    .toArray();
  expect(contact?.["account_id"].toHexString()).toBe(account.id);
  return (contact?.["created_at"] as Date).toISOString();
}

describe.each(pairs)("first over %s, then over %s", (first, second) => {
  test.each(["Redis", "MongoDB"])(
    "replays a create from %s, in the bytes of a first response on the second wire [IDM-06, IDM-09]",
    async (source) => {
      const account = await service().account();
      const made = await wires[first].create({ base: service().base, key: account.key }, "k", ana);
      if (source === "MongoDB") await redis().flushall();
      const again = await wires[second].create({ base: other().base, key: account.key }, "k", ana);
      expect([made.outcome, made.replayed, again.outcome, again.replayed]).toEqual(["ok", false, "ok", true]);
      const at = await storedInstant(account);
      expect(made.text).toBe(
        first === "REST" ? contactBody(made.id, at) : contactMessage(made.id, at.replace(/\.000Z$/, "Z")),
      );
      expect(again.text).toBe(
        second === "REST" ? contactBody(made.id, at) : contactMessage(made.id, at.replace(/\.000Z$/, "Z")),
      );
      expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
    },
  );

  test("replays an append, also to a contact archived since, and rejects another body as a conflict [IDM-09, IDM-10, IDM-20]", async () => {
    const account = await service().account();
    const here = { base: service().base, key: account.key };
    const contact = await wires[first].create(here, "c", ana);
    const noted = await wires[first].append(here, "n", contact.id, "a note");
    await archive(service().app.client, contact.id);
    await redis().flushall();
    const again = await wires[second].append({ ...here, base: other().base }, "n", contact.id, "a note");
    expect([noted.outcome, again.outcome, again.replayed, again.id]).toEqual(["ok", "ok", true, noted.id]);
    const conflict = second === "REST" ? "409" : "Aborted";
    expect((await wires[second].append(here, "n", contact.id, "another")).outcome).toBe(conflict);
    expect((await wires[second].create(here, "n", ana)).outcome).toBe(conflict);
    expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 1, notes: 1, claims: 2 });
  });
});

test.each(names)(
  "over %s a malformed key is rejected as invalid and writes nothing [IDM-02, IDM-03, IDM-04, IDM-09]",
  async (name) => {
    const account = await service().account();
    for (const key of ["", "a b", "x".repeat(129)]) {
      const response = await wires[name].create({ base: service().base, key: account.key }, key, ana);
      expect(response.outcome, `"${key}"`).toBe(name === "REST" ? "422" : "InvalidArgument");
    }
    expect(await recordsOf(service().app.client, account)).toEqual({ contacts: 0, notes: 0, claims: 0 });
  },
);
