// Selects the writes for tests that cover all writes: every write in the descriptors, except for those listed here with
// a reason.
import type { RpcFacts } from "../fixtures/clients/descriptors.ts";
import { everyService, rpcsOf } from "../fixtures/clients/descriptors.ts";
import { ingestRequests } from "../fixtures/clients/ingest-requests.ts";
import { named } from "../fixtures/clients/operations.ts";
import type { Fields, Named } from "../fixtures/clients/wires.ts";
import { endpoints } from "../fixtures/clients/wires.ts";

/** The promises of all writes. Each has tests that iterate over its list. */
export const promises = ["idempotency", "read-only keys", "read-only stores", "paused writes"] as const;
export type Promised = (typeof promises)[number];

const contacts = "records.v1.ContactService";
const keys = "records.v1.ApiKeyService";
const ingest = "records.ingest.v1.IngestService";

/** Excludes these RPCs of a service for the same reason. */
function excepted(service: string, rpcs: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(rpcs.map((rpc) => [`${service}/${rpc}`, reason]));
}

const ofKeys = ["CreateApiKey", "RotateApiKey", "RevokeApiKey"];
const ofIngest = [
  ...["UpsertContacts", "UpsertSessions", "PutTranscripts", "UpsertSessionNotes", "UpsertContactNotes"],
  ...["ArchiveContacts", "RestoreContacts", "DeleteRecords", "Import"],
];

/** The excluded writes, with reasons. */
export const exceptions: Readonly<Record<Promised, Readonly<Record<string, string>>>> = {
  idempotency: {
    ...excepted(contacts, ["UpdateContact"], "sets fields to values, so repeating it has the same result"),
    ...excepted(keys, ofKeys, "a key is shown once and never stored with a response"),
    ...excepted(ingest, ofIngest, "an item has an external id, so repeating it updates the same record"),
  },
  "read-only keys": {
    ...excepted(keys, ofKeys, "not available with an API key"),
    ...excepted(ingest, ofIngest, "not available with an API key: only served on the internal listener"),
  },
  "read-only stores": excepted(keys, ofKeys, "takes an owner, which tokens and keys do not provide"),
  "paused writes": excepted(keys, ofKeys, "still allowed, so that a user can always revoke a key"),
};

/** The writes of an account's data, except for the operator's. */
export function recordWrites(): RpcFacts[] {
  return rpcsOf(everyService).filter(({ path, writes }) => writes && /^records\.(?:ingest\.)?v1\./.test(path));
}

/** The writes that the tests of a promise cover. */
export function writesIn(promised: Promised): RpcFacts[] {
  return recordWrites().filter(({ path }) => exceptions[promised][path] === undefined);
}

/** A valid request for a write in an account with these records. Throws if the tests do not know one. */
export function requestTo({ path, rpc, caller }: RpcFacts, of: Named): Fields {
  if (caller !== "service") return endpoints[named(path)].request(of);
  const request = (ingestRequests as Readonly<Record<string, (of: Named) => Fields>>)[rpc.name];
  if (request === undefined || rpc.parent.typeName !== ingest)
    throw new Error(`the tests do not know the RPC ${path}: add a request to test/fixtures/clients/ingest-requests.ts`);
  return request(of);
}
