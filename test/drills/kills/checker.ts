// Checks the writes of a stream in the database and over the service: every acknowledged write exists once, with the
// body of its response.
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import { rest } from "../../fixtures/service/service.ts";
import { wires } from "../../fixtures/clients/idempotent-writes.ts";
import type { Form } from "../drill.ts";
import type { Account, Fixture } from "../../fixtures/service/fixture.ts";
import type { SpokenWire } from "./body.ts";
import { bodyOf, readBack } from "./body.ts";
import type { Acknowledged, Stream } from "./stream.ts";
import { contactOf } from "./stream.ts";

/** The maximum number of writes to repeat over the other wire. Each may need a transaction to find its key taken. */
const maxReplays = { long: 1_000, short: 50 } satisfies Record<Form, number>;

/** Returns descriptions of all violations. */
export async function checkWrites(
  { client, instances }: Fixture,
  account: Account,
  { acknowledged, wrong }: Stream,
  form: Form,
): Promise<string[]> {
  const violations = [...wrong];
  const mine = { account_id: new UUID(account.id) };
  const majority = { readConcern: { level: "majority" as const } };
  const base = (at: number): string => instances[at % instances.length]?.base ?? "";

  async function idsByName(collection: string, field: string): Promise<Map<string, string[]>> {
    const ids = new Map<string, string[]>();
    for await (const document of client
      .db()
      .collection<Document & { _id: UUID }>(collection)
      .find(mine, { ...majority, projection: { [field]: 1 } })) {
      const name = String(document[field]);
      ids.set(name, [...(ids.get(name) ?? []), document._id.toHexString()]);
    }
    return ids;
  }

  async function checkDatabase(): Promise<void> {
    const held = { create: await idsByName("contacts", "full_name"), append: await idsByName("notes", "content") };
    for (const { name, id, operation } of acknowledged) {
      if (held[operation].get(name)?.includes(id) !== true)
        violations.push(`${name} was acknowledged as ${id} but is lost`);
    }
    const acknowledgedNames = new Set(acknowledged.map(({ name }) => name));
    for (const [name, ids] of [...held.create, ...held.append]) {
      if (ids.length > 1) violations.push(`${name} exists ${ids.length} times`);
      if (!acknowledgedNames.has(name)) violations.push(`${name} exists but was never acknowledged`);
    }
  }

  /** The stored response must equal what the client received, because replays send it. */
  async function checkStoredResponses(): Promise<void> {
    const bodies = new Map<string, string>();
    for await (const { _id, body } of client
      .db()
      .collection<{ _id: { key: string }; body: string }>("idempotency")
      .find({ "_id.account_id": mine.account_id }, majority))
      bodies.set(_id.key, body);
    for (const { name, body } of acknowledged) {
      if (bodies.get(name) !== body)
        violations.push(`${name} got ${body}, but its replay would be ${bodies.get(name) ?? "none"}`);
    }
    if (bodies.size !== acknowledged.length)
      violations.push(`${bodies.size} idempotency keys are stored for ${acknowledged.length} acknowledged writes`);
  }

  async function checkReads(): Promise<void> {
    const notes = new Map<string, string[]>();
    for (const { parent, body } of acknowledged)
      if (parent !== undefined) notes.set(parent, [...(notes.get(parent) ?? []), body]);
    await inFours(
      acknowledged.filter(({ operation }) => operation === "create"),
      async ({ name, id, body }, at) => {
        const expected = readBack(body, notes.get(id) ?? []);
        const { text } = await rest(base(at), `/v1/contacts/${id}`, { key: account.key });
        if (text !== expected) violations.push(`${name} should read ${expected}, but reads ${text}`);
      },
    );
  }

  async function checkReplays(): Promise<void> {
    const step = Math.max(1, Math.ceil(acknowledged.length / maxReplays[form]));
    await inFours(
      acknowledged.filter((_, at) => at % step === 0),
      async ({ name, operation, parent, id, body, wire: first }, at) => {
        const wire: SpokenWire = first === "REST" ? "gRPC" : "REST";
        const target = { base: base(at), key: account.key };
        const again =
          parent === undefined
            ? await wires[wire].create(target, name, contactOf(name))
            : await wires[wire].append(target, name, parent, name);
        const returned = again.outcome === "ok" ? bodyOf(operation, wire, again) : again.text;
        if (returned !== body || !again.replayed)
          violations.push(
            `${name} got ${body} over ${first}, but ${returned}${again.replayed ? "" : ", not as a replay,"} over ${wire} (${id})`,
          );
      },
    );
  }

  await checkDatabase();
  await checkStoredResponses();
  await checkReads();
  await checkReplays();
  return violations;
}

/** Processes the writes, four at a time. */
async function inFours(
  writes: readonly Acknowledged[],
  work: (write: Acknowledged, at: number) => Promise<void>,
): Promise<void> {
  const queue = writes.entries();
  await Promise.all(
    [0, 1, 2, 3].map(async () => {
      for (const [at, write] of queue) await work(write, at);
    }),
  );
}
