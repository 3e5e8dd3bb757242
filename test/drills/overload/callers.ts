// The callers of an overloaded instance: a mix of typical requests from many accounts, over REST or gRPC.
import { create, toBinary } from "@bufbuild/protobuf";
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import { NoteService } from "../../../src/gen/records/v1/notes_pb.ts";
import type { Account } from "../../fixtures/service/fixture.ts";
import type { Reply } from "../load/connection.ts";
import { requestText } from "../load/connection.ts";
import type { Send } from "../load/load.ts";
import type { Pool } from "../load/pool.ts";
import { createPool } from "../load/pool.ts";
import type { PreparedCall } from "../load/streams.ts";
import { openStreams, prepareCall } from "../load/streams.ts";

/** Callers over one wire. */
export interface Callers {
  readonly send: Send;
  close(): void;
}

const contactsOfAccount = 30;
/** Opened in advance, as a proxy would: Node accepts only one connection per turn of its event loop. */
const connections = 1_000;
const grpcConnections = 40;
const note =
  "Wants to see the house again before the end of autumn, with her brother, who knows about roofs. Asked what the heating costs; send her the bills of the last three years.";
/** Of ten requests, five read a contact, four run a search with a full page of results, and one creates. */
const order = ["read", "contacts", "read", "notes", "read", "create", "read", "contacts", "read", "notes"] as const;
type Kind = (typeof order)[number];

/** Fills the account and returns the id of one of its contacts. */
export async function fill(pool: Pool, { key }: Account): Promise<string> {
  const headers = { Authorization: `Bearer ${key}` };
  let last = "";
  for (let count = 0; count < contactsOfAccount; count++) {
    const made = await pool.send(requestText("POST", "/v1/contacts", headers, { full_name: "Ann Lee" }));
    last = (JSON.parse(made.body) as { data: { id: string } }).data.id;
    await pool.send(requestText("POST", `/v1/contacts/${last}/notes`, headers, { content: note }));
  }
  return last;
}

/** Returns the request with this number. Accounts take turns. */
function nth<T>(requests: readonly Readonly<Record<Kind, T>>[], number: number): T {
  const kind = order[Math.floor(number / requests.length) % order.length] as Kind;
  return (requests[number % requests.length] as Readonly<Record<Kind, T>>)[kind];
}

/** Calls over REST on keep-alive connections. */
export async function overRest(base: string, accounts: readonly Account[], ids: readonly string[]): Promise<Callers> {
  const pool = createPool(base, connections);
  await pool.warm(connections);
  const requests = accounts.map(({ key }, index) => {
    const headers = { Authorization: `Bearer ${key}` };
    const get = (path: string): string => requestText("GET", path, headers);
    return {
      read: get(`/v1/contacts/${ids[index]}`),
      contacts: get("/v1/contacts?query=ann"),
      notes: get("/v1/notes?query=autumn"),
      // Searches do not find created contacts, so their cost stays constant.
      create: requestText("POST", "/v1/contacts", headers, { full_name: "Bo Day" }),
    };
  });
  return { send: (number) => pool.send(nth(requests, number)), close: pool.close };
}

/** Calls over gRPC, with many streams per connection. */
export async function overGrpc(base: string, accounts: readonly Account[], ids: readonly string[]): Promise<Callers> {
  const streams = await openStreams(base, grpcConnections);
  const { getContact, searchContacts, createContact } = ContactService.method;
  const { searchNotes } = NoteService.method;
  const requests = accounts.map(({ key }, index) => {
    const metadata = { authorization: `Bearer ${key}` };
    const call = (service: string, method: string, message: Uint8Array): PreparedCall =>
      prepareCall(base, `/records.v1.${service}/${method}`, metadata, message);
    const { input: get } = getContact;
    return {
      read: call("ContactService", "GetContact", toBinary(get, create(get, { contactId: ids[index] ?? "" }))),
      contacts: call(
        "ContactService",
        "SearchContacts",
        toBinary(searchContacts.input, create(searchContacts.input, { query: "ann" })),
      ),
      notes: call(
        "NoteService",
        "SearchNotes",
        toBinary(searchNotes.input, create(searchNotes.input, { query: "autumn" })),
      ),
      create: call(
        "ContactService",
        "CreateContact",
        toBinary(createContact.input, create(createContact.input, { fullName: "Bo Day" })),
      ),
    };
  });
  const statuses = { message: 200, status: 503, reset: 0 } as const;
  return {
    async send(number): Promise<Reply> {
      const { end, wireMs } = await streams.call(nth(requests, number));
      return { status: statuses[end], headers: new Map(), body: "", closes: false, wireMs };
    },
    close: streams.close,
  };
}
