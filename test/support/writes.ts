// Which writes take part in which tests of all writes: every write of records that the descriptors have, but for those
// that are listed here with a reason.
import type { DescService } from "@bufbuild/protobuf";
import type { RpcFacts } from "../fixtures/clients/descriptors.ts";
import { everyService, rpcsOf } from "../fixtures/clients/descriptors.ts";
import { ingestRequests } from "../fixtures/clients/ingest-requests.ts";
import { named } from "../fixtures/clients/operations.ts";
import type { Fields, Named } from "../fixtures/clients/wires.ts";
import { endpoints } from "../fixtures/clients/wires.ts";

/** What all writes promise; each has tests that walk its list. */
export const promises = ["isolation", "idempotency", "read-only keys", "read-only stores", "paused writes"] as const;
export type Promised = (typeof promises)[number];

const contacts = "records.v1.ContactService";
const keys = "records.v1.ApiKeyService";
const ingest = "records.ingest.v1.IngestService";

/** The same reason for these rpcs of a service. */
function excepted(service: string, rpcs: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(rpcs.map((rpc) => [`${service}/${rpc}`, reason]));
}

const ofKeys = ["CreateApiKey", "RotateApiKey", "RevokeApiKey"];
const ofIngest = [
  ...["UpsertContacts", "UpsertSessions", "PutTranscripts", "UpsertSessionNotes", "UpsertContactNotes"],
  ...["ArchiveContacts", "RestoreContacts", "DeleteRecords", "Import"],
];

/** The writes that do not take part, with the reason. */
export const exceptions: Readonly<Record<Promised, Readonly<Record<string, string>>>> = {
  isolation: excepted(keys, ofKeys, "names no record: the account is that of the session"),
  idempotency: {
    ...excepted(contacts, ["UpdateContact"], "sets fields to values: repeated, it comes to the same"),
    ...excepted(keys, ofKeys, "a key is shown once, and is never stored with a response"),
    ...excepted(ingest, ofIngest, "an item has a name: repeated, it is an update of the same record"),
  },
  "read-only keys": {
    ...excepted(keys, ofKeys, "no API key opens it"),
    ...excepted(ingest, ofIngest, "no API key opens it: it is served on the internal listener alone"),
  },
  "read-only stores": excepted(keys, ofKeys, "takes an owner, which no token and no key is"),
  "paused writes": excepted(keys, ofKeys, "continues: a user can always rid themselves of a key"),
};

/** The writes of records, and of what belongs to an account: not the operator's. */
export function recordWrites(services: readonly DescService[] = everyService): RpcFacts[] {
  return rpcsOf(services).filter(({ path, writes }) => writes && /^records\.(?:ingest\.)?v1\./.test(path));
}

/** The writes that take part in the tests of a promise. */
export function writesIn(promised: Promised, services?: readonly DescService[]): RpcFacts[] {
  return recordWrites(services).filter(({ path }) => exceptions[promised][path] === undefined);
}

/** A valid request to a write in an account that has these records. Throws where the tests know none. */
export function requestTo({ path, rpc, caller }: RpcFacts, of: Named): Fields {
  if (caller !== "service") return endpoints[named(path)].request(of);
  const request = (ingestRequests as Readonly<Record<string, (of: Named) => Fields>>)[rpc.name];
  if (request === undefined || rpc.parent.typeName !== ingest)
    throw new Error(`no test knows the rpc ${path}: add a request to test/fixtures/clients/ingest-requests.ts`);
  return request(of);
}
