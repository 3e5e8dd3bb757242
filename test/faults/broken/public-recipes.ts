// Recipes for the operations of records.v1, over REST with an API key or a dashboard cookie.
import { randomBytes } from "node:crypto";
import { Binary, UUID } from "mongodb";
import type { RestCall } from "../../fixtures/service/service.ts";
import { rest } from "../../fixtures/service/service.ts";
import type { Lane, LaneUser } from "./lane.ts";
import type { Outcome, Recipe } from "./recipe.ts";
import { count, fresh, outcomeOf } from "./recipe.ts";

type Call = Omit<RestCall, "key">;

async function send(
  { service, account: { key } }: Lane,
  path: string,
  expected: number,
  call: Call = {},
): Promise<Outcome> {
  return outcomeOf(await service.rest(path, { ...call, key }), expected);
}

function read(operation: string, path: (lane: Lane) => string): Recipe {
  return { operation, prepare: (lane) => Promise.resolve({ send: () => send(lane, path(lane), 200) }) };
}

function contactsNamed(lane: Lane, full_name: string): Promise<number> {
  return count(lane, "contacts", { account_id: UUID.createFromHexString(lane.account.id), full_name });
}

function create(variant: string, keyed: boolean): Recipe {
  return {
    operation: "records.v1.ContactService/CreateContact",
    variant,
    async prepare(lane) {
      const name = fresh();
      const call: Call = {
        body: { full_name: name, email: `${name}@example.com` },
        headers: keyed ? { "Idempotency-Key": name } : {},
      };
      return {
        send: () => send(lane, "/v1/contacts", 201, call),
        effects: () => contactsNamed(lane, name),
        ...(keyed ? { repeatable: true } : {}),
      };
    },
  };
}

function append(variant: string, keyed: boolean): Recipe {
  return {
    operation: "records.v1.ContactService/AppendContactNote",
    variant,
    async prepare(lane) {
      const content = fresh();
      const call: Call = { body: { content }, headers: keyed ? { "Idempotency-Key": content } : {} };
      return {
        send: () => send(lane, `/v1/contacts/${lane.contact}/notes`, 201, call),
        effects: () => count(lane, "notes", { account_id: UUID.createFromHexString(lane.account.id), content }),
        ...(keyed ? { repeatable: true } : {}),
      };
    },
  };
}

function update(variant: string, changes: (value: string) => Record<string, unknown>): Recipe {
  return {
    operation: "records.v1.ContactService/UpdateContact",
    variant,
    async prepare(lane) {
      const id = await lane.put.contact({ full_name: fresh() });
      const body = changes(fresh());
      const contact = `/v1/contacts/${id}`;
      return {
        send: () => send(lane, contact, 200, { method: "PATCH", body }),
        effects: () => count(lane, "contacts", { _id: UUID.createFromHexString(id), ...body }),
        repeatable: true,
      };
    },
  };
}

/** A call like the dashboard's. */
async function asOwner(
  { service }: Lane,
  owner: LaneUser,
  path: string,
  expected: number,
  call: Call = {},
): Promise<Outcome> {
  const headers = {
    Cookie: owner.cookie,
    Origin: new URL(service.app.baseUrl).origin,
    "Sec-Fetch-Site": "same-origin",
  };
  return outcomeOf(await rest(service.base, path, { ...call, headers }), expected);
}

/** Creates or revokes the owner's key, and returns a count of later key changes in the audit log. */
async function keyOf({ whole }: Lane, owner: LaneUser, present: boolean): Promise<() => Promise<number>> {
  const { apiKeys } = whole.app.services;
  const id = UUID.createFromHexString(owner.accountId);
  const existing = await apiKeys.ofAccount(id, undefined);
  if (present && existing === undefined) await apiKeys.create(id, "read_write");
  if (!present && existing !== undefined) await apiKeys.revoke(id);
  const log = whole.app.client.db().collection("audit_log");
  const changes = (): Promise<number> => log.countDocuments({ account_id: id, event: /^key_/ });
  const before = await changes();
  return async () => (await changes()) - before;
}

function keyChange(rpc: string, present: boolean, path: string, expected: number, call: Call): Recipe {
  return {
    operation: `records.v1.ApiKeyService/${rpc}`,
    async prepare(lane) {
      const owner = await lane.user(rpc);
      return { effects: await keyOf(lane, owner, present), send: () => asOwner(lane, owner, path, expected, call) };
    },
  };
}

export const publicRecipes: readonly Recipe[] = [
  read("records.v1.HealthService/CheckHealth", () => "/v1/health"),
  read("records.v1.ContactService/SearchContacts", () => "/v1/contacts?query=ann"),
  read("records.v1.ContactService/GetContact", ({ contact }) => `/v1/contacts/${contact}`),
  read("records.v1.SessionService/ListSessions", () => "/v1/sessions"),
  read("records.v1.SessionService/GetSession", ({ session }) => `/v1/sessions/${session}`),
  read("records.v1.SessionService/GetSessionTranscript", ({ session }) => `/v1/sessions/${session}/transcript`),
  {
    operation: "records.v1.SessionService/SearchTranscripts",
    prepare: (lane) => {
      const call = { body: { contact_id: lane.contact, query: "budget" } };
      return Promise.resolve({ send: () => send(lane, "/records.v1.SessionService/SearchTranscripts", 200, call) });
    },
  },
  read("records.v1.NoteService/SearchNotes", () => "/v1/notes?query=budget"),
  {
    operation: "records.v1.ContactService/SearchContacts",
    variant: "with a key that is not cached",
    async prepare({ whole, service }) {
      const { key } = await whole.account();
      return { send: async () => outcomeOf(await service.rest("/v1/contacts?query=ann", { key }), 200) };
    },
  },
  create("with an idempotency key", true),
  create("without an idempotency key", false),
  append("with an idempotency key", true),
  append("without an idempotency key", false),
  update("of the name", (full_name) => ({ full_name })),
  update("of the phone", (phone) => ({ phone })),
  keyChange("CreateApiKey", false, "/v1/api-key", 201, { method: "POST", body: {} }),
  keyChange("RotateApiKey", true, "/v1/api-key/rotate", 201, { method: "POST", body: {} }),
  keyChange("RevokeApiKey", true, "/v1/api-key", 200, { method: "DELETE" }),
  {
    operation: "records.v1.ApiKeyService/GetApiKey",
    background: "api_keys",
    async prepare(lane) {
      const owner = await lane.user("GetApiKey");
      await keyOf(lane, owner, true);
      return {
        send() {
          // A pending use, which must be written before the key is read.
          lane.service.app.services.lastUse.note(new Binary(randomBytes(32)));
          return asOwner(lane, owner, "/v1/api-key", 200);
        },
      };
    },
  },
  {
    operation: "records.v1.AuditService/ListAuditEntries",
    background: "audit_log",
    async prepare(lane) {
      const owner = await lane.user("ListAuditEntries");
      const id = UUID.createFromHexString(owner.accountId);
      const actor = { person: owner.subject, requestId: fresh(), address: "127.0.0.1" };
      return {
        send() {
          // A pending entry, which must be written before the log is read.
          lane.service.app.services.audit.appendSoon(id, actor, { event: "tool_called", detail: "search_contacts" });
          return asOwner(lane, owner, "/v1/audit-log", 200);
        },
      };
    },
  },
];
