// Accounts that cover every field of every record and every state of an account, its key and its sign-in.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Double, Long, UUID } from "mongodb";
import { deadlineIn } from "../../../src/call/deadline.ts";
import { CreateApiKeyRequestSchema, RotateApiKeyRequestSchema } from "../../../src/gen/records/v1/api_keys_pb.ts";
import type { Owner } from "../../../src/call/scope.ts";
import { createDashboardSessions } from "../../../src/sign-in/session-store.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { everyRecord, recordIds } from "../../fixtures/records/every-field.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { rest } from "../../fixtures/service/service.ts";
import { startCommand } from "../fixture/command.ts";

/** An account, and the status that each of its keys gets. */
export interface Filled {
  readonly id: string;
  readonly keys: readonly { readonly key: string; readonly status: number }[];
}

/** The final state of each account, in rotation. */
const states = ["used", "rotated", "suspended", "revoked", "withdrawn", "without a key"] as const;
const caller = { address: "192.0.2.7", requestId: "request-of-the-drill", token: "01234567" };
const issuer = "https://provider.example/";
/** The last use of a key is written about a second later. */
const usesWrittenMs = 2_500;

/** Creates `count` accounts, each with every field of every record and `extra` contacts. */
export async function fill(fixture: Fixture, folder: string, count: number, extra: number): Promise<Filled[]> {
  const filled: Filled[] = [];
  for (let at = 0; at < count; at++) filled.push(await fillOne(fixture, at, extra));
  const [first] = filled;
  if (first === undefined) throw new Error("the drill has no accounts");
  await runImport(fixture, folder, first.id);
  await addUnknownFields(fixture);
  for (const enabled of [false, true])
    await fixture.services.switches.set(
      { switch: "publicInterface", enabled, reason: "a drill" },
      caller,
      deadlineIn(10_000),
    );
  await sleep(usesWrittenMs);
  return filled;
}

async function fillOne(fixture: Fixture, at: number, extra: number): Promise<Filled> {
  const { services, client } = fixture;
  const state = states[at % states.length];
  const { _id } = await services.accounts.create(`Person.${at}@Example.com`, true);
  const subject = `subject ${at}`;
  await services.accounts.link(_id, { issuer, subject });
  await services.accounts.link(_id, { issuer, subject: `second ${subject}` });
  await fillRecords(fixture, _id.toHexString(), at, extra);
  await createDashboardSessions(client.db(), ["a-session-secret-of-32-characters-or-more"]).begin({
    issuer,
    subject,
    sid: undefined,
    email: undefined,
    name: undefined,
    idToken: "none",
  });
  const actor = { person: `person.${at}@example.com`, requestId: randomUUID(), address: "192.0.2.1" };
  const owner: Owner = { kind: "credentials", accountId: _id, actor, deadline: deadlineIn(30_000) };
  services.audit.appendSoon(_id, actor, { event: "tool_called", detail: "search" });
  await services.audit.flush();
  const use = { caller, reason: "a drill", deadline: owner.deadline };
  await services.operatorActions.endSessions(_id, use);

  const keys = services.apiKeyService;
  const id = _id.toHexString();
  if (state === "without a key") return { id, keys: [] };
  const first = (await keys.createApiKey(create(CreateApiKeyRequestSchema), owner)).apiKey?.key ?? "";
  await writeOnce(fixture, first);
  if (state === "used" || state === "withdrawn") {
    if (state === "withdrawn") await services.accounts.enrol(_id, false, {});
    return { id, keys: [{ key: first, status: 200 }] };
  }
  if (state === "revoked") {
    await services.operatorActions.revokeKey(first.slice(0, 8), use);
    return { id, keys: [{ key: first, status: 401 }] };
  }
  const second = (await keys.rotateApiKey(create(RotateApiKeyRequestSchema), owner)).apiKey?.key ?? "";
  if (state === "suspended") await services.operatorActions.setSuspended(_id, true, use);
  return {
    id,
    keys: [
      { key: first, status: 401 },
      { key: second, status: state === "suspended" ? 403 : 200 },
    ],
  };
}

async function fillRecords(fixture: Fixture, accountId: string, at: number, extra: number): Promise<void> {
  const internal = `http://127.0.0.1:${fixture.instances[0]?.internalPort ?? 0}`;
  /** Safe to retry: every record has its own external id. */
  const internalCall = async (rpc: string, body: unknown): ReturnType<typeof rest> => {
    for (;;) {
      const response = await rest(internal, `/${rpc}`, { key: childToken, body });
      if (response.status !== 503) return response;
    }
  };
  const into = ingestInto({ internalCall }, accountId);
  const all = everyRecord(recordIds(at));
  await into.contact(all["contact"] ?? {});
  await into.session(all["session"] ?? {});
  await into.transcript(all["transcript"] ?? {});
  await into.sessionNotes(all["session_note"] ?? {});
  await into.contactNotes(all["contact_note"] ?? {});
  for (let from = 0; from < extra; from += 500)
    await into.contacts(
      ...Array.from({ length: Math.min(500, extra - from) }, (_, index) => ({
        external_id: `contact ${from + index}`,
        full_name: `Contact ${from + index}`,
        email: `${at}.${from + index}@contact.example`,
      })),
    );
}

/** Sends a write with an idempotency key. */
async function writeOnce({ instances: [instance] }: Fixture, key: string): Promise<void> {
  const { status, text } = await rest(instance?.base ?? "", "/v1/contacts", {
    key,
    body: { full_name: "Ünïcode 名前 🙂" },
    headers: { "Idempotency-Key": randomUUID() },
  });
  if (status !== 201) throw new Error(`a write got ${status}: ${text}`);
}

async function runImport({ instances: [instance] }: Fixture, folder: string, accountId: string): Promise<void> {
  const file = join(folder, "import.ndjson");
  writeFileSync(file, `${JSON.stringify({ contact: { full_name: "Imported" } })}\n`);
  const { code, output } = await startCommand(instance ?? { internalPort: 0 }, "import", file, "--account", accountId)
    .ended;
  if (code !== 0) throw new Error(`the import ended with ${code}: ${output}`);
}

/** A later release may store new fields and other numeric types. */
async function addUnknownFields({ client }: Fixture): Promise<void> {
  const later = {
    double: new Double(5),
    long: Long.fromNumber(5),
    integer: 5,
    none: null,
    text: "{}",
    list: [[1], {}],
    id: new UUID(),
    at: new Date(0),
    nested: { a: { b: new Double(0.1) } },
  };
  for (const { name } of await client.db().listCollections({}, { nameOnly: true }).toArray())
    await client
      .db()
      .collection(name)
      .updateMany({}, [{ $set: { of_a_later_release: { $literal: later } } }]);
}
