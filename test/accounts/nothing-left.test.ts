// The proof that no place is forgotten: an account with everything that the product makes is deleted, and all there is
// is searched.
import { randomUUID } from "node:crypto";
import { BSON, UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { call, holderOf } from "../mcp/tools/set-up.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { databaseTexts, noteSecret, redisText } from "../fixtures/service/secrets.ts";
import { importAll } from "../support/streams.ts";

const fixture = useSignInFixture();
/** Is in every text of the account. */
const marker = `mark${randomUUID().slice(0, 8)}`;

interface Filled {
  readonly id: string;
  /** Must not occur anywhere after the erasure. */
  readonly wanted: readonly string[];
}

/** An account with everything that the product can make. */
async function fill(): Promise<Filled> {
  const holder = await holderOf(fixture());
  const { service, base } = fixture();
  const { put, accountId: id, key } = holder;
  const contact = await put.contact({
    full_name: marker,
    email: `${marker}@example.com`,
    notes: marker,
    memory: marker,
    phone: "1",
    external_id: marker,
  });
  await put.archive(await put.contact({ inferred_name: marker, email: `old-${marker}@example.com` }));
  const session = await put.session({
    title: marker,
    subtitle: marker,
    contact_id: contact,
    external_id: marker,
    source: marker,
  });
  await put.transcript({ session_id: session, transcript: `${marker} `.repeat(200) });
  await put.sessionNotes({
    session_id: session,
    content: marker,
    type: "SESSION_NOTE_TYPE_USER_MANUAL",
    external_id: marker,
  });
  await put.contactNotes({ contact_id: contact, content: marker, source: "import" });
  await importAll(service, {
    accountId: id,
    importId: marker,
    records: [{ contact: { full_name: `imported ${marker}` } }],
  });
  const once = { "Idempotency-Key": marker };
  expect((await service.rest("/v1/contacts", { key, body: { full_name: marker }, headers: once })).status).toBe(201);
  expect(
    (
      await service.rest(`/v1/contacts/${contact}/notes`, {
        key,
        body: { content: marker },
        headers: { "Idempotency-Key": `${marker}-note` },
      })
    ).status,
  ).toBe(201);
  expect((await call(holder, "search_contacts", { query: marker })).isError).toBe(false);
  const { cookie } = await signIn(fixture(), ann);
  const rotated = await sendRequest(`${base}/v1/api-key/rotate`, { method: "POST", cookie, origin: base });
  expect(rotated.status).toBe(201);
  noteSecret(rotated.body.data.key as string);
  await vi.waitFor(
    async () => expect((await sendRequest(`${base}/v1/audit-log`, { cookie })).text).toContain("tool_called"),
    {
      timeout: 20_000,
      interval: 50,
    },
  );
  await service.app.services.usage.flush();
  return { id, wanted: [id, marker, ann.email] };
}

/**
 * Everywhere in MongoDB and Redis, but for the erasure's own mark, where one of the texts is, as text or as the
 * bytes of an id.
 */
async function placesThatSay({ id, wanted }: Filled): Promise<string[]> {
  const { service } = fixture();
  const db = service.app.client.db();
  const forms = [
    ...wanted,
    BSON.EJSON.stringify(UUID.createFromHexString(id)),
    Buffer.from(UUID.createFromHexString(id).buffer).toString("latin1"),
  ];
  const says = (text: string): boolean => forms.some((form) => text.toLowerCase().includes(form.toLowerCase()));
  const whole = (await databaseTexts(db))
    .filter(([name]) => name !== "the collection erasures")
    .map(([name, text]) => [name.replace("the collection ", ""), text] as const);
  const raw = await Promise.all(
    (await db.listCollections({}, { nameOnly: true }).toArray())
      .filter(({ name }) => name !== "erasures")
      .map(async ({ name }) => {
        const documents = await db.collection(name).find({}, { raw: true }).toArray();
        return [
          name,
          documents.map((document) => (document as unknown as Buffer).toString("latin1")).join("\n"),
        ] as const;
      }),
  );
  const found = [...whole, ...raw, ["redis", await redisText(service.redis.uri)] as const].flatMap(([name, text]) =>
    says(text) ? [name] : [],
  );
  return [...new Set(found)].sort();
}

const admin = (rpc: string, message: unknown) =>
  fixture().service.internalCall(`records.admin.v1.AccountService/${rpc}`, message);

test("after the erasure of an account that used everything, only its mark is left in the collections and in Redis [ADM-04]", async () => {
  const filled = await fill();
  const { service } = fixture();
  const everywhere = [
    "accounts",
    "api_keys",
    "audit_log",
    "contacts",
    "dashboard_sessions",
    "idempotency",
    "imports",
    "notes",
    "redis",
    "request_counts",
    "restores",
    "sessions",
    "transcripts",
  ];
  // As of an account that was restored from a backup.
  await service.app.client
    .db()
    .collection<{ _id: UUID; backup: string }>("restores")
    .insertOne({ _id: UUID.createFromHexString(filled.id), backup: "a backup" });
  expect((await placesThatSay(filled)).sort()).toEqual(everywhere);

  const { status, body } = await admin("DeleteAccount", { account_id: filled.id });
  expect([status, body.erased]).toEqual([200, true]);
  expect((body.places as { place: string }[]).map(({ place }) => place).sort()).toEqual(everywhere);
  // What is 0 is left out.
  expect((body.places as { left?: string }[]).filter(({ left }) => left !== undefined)).toEqual([]);
  // The pending audit entry of a tool call and the account's bucket disappear within seconds.
  await vi.waitFor(async () => expect(await placesThatSay(filled)).toEqual([]), { timeout: 20_000, interval: 200 });
  const [mark, ...others] = await service.app.client.db().collection("erasures").find().toArray();
  expect(others).toEqual([]);
  expect(
    Object.keys(mark ?? {})
      .filter((name) => name !== "lease")
      .sort(),
  ).toEqual(["_id", "begun_at", "deleted", "identities", "requested"]);
  expect(JSON.stringify(mark)).not.toContain(ann.email);

  // The control: the search finds one planted document or key.
  const db = service.app.client.db();
  for (const planted of [
    { of: UUID.createFromHexString(filled.id) },
    { deep: { list: [filled.id.toUpperCase()] } },
    { text: `x${marker}x` },
    { email: ann.email },
  ]) {
    await db.collection("forgotten").insertOne({ ...planted });
    expect(await placesThatSay(filled)).toEqual(["forgotten"]);
    await db.collection("forgotten").deleteMany({});
  }
});
