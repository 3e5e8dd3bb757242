// The requests of the bench on each wire.
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { createRandom, pick } from "../fixtures/random.ts";
import { ContactService, GetContactRequestSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import type { AccountPlan } from "./dataset/accounts.ts";
import { recordId } from "./dataset/accounts.ts";
import { firstNames, languages, lastNames } from "./dataset/texts.ts";
import type { GrpcRequest, WireRequest } from "./load/load.ts";
import { uniqueMark } from "./load/load.ts";

const requestCount = 1_000;
const rpcPath = `/${ContactService.typeName}/GetContact`;

export function getContact(account: AccountPlan, key: string): WireRequest[] {
  return contactIds(account).map((id) => get(`/v1/contacts/${id}`, key));
}

/** The first ten pages of the sessions. */
export function listSessions(key: string): WireRequest[] {
  return Array.from({ length: 10 }, (_, page) =>
    get(page === 0 ? "/v1/sessions" : `/v1/sessions?offset=${page * 10}`, key),
  );
}

/** Searches for frequent first names, every third one with the start of a last name. */
export function searchContacts(key: string): WireRequest[] {
  const random = createRandom("contact searches");
  return Array.from({ length: requestCount }, (_, at) => {
    const first = firstNames[Math.floor(random() * 40)] as string;
    return search(
      "contacts",
      at % 3 === 2 ? `${first} ${(lastNames[Math.floor(random() * 40)] as string).slice(0, 2)}` : first,
      key,
    );
  });
}

/** Searches notes for one frequent or rare word, every third one for two words. */
export function searchNotes(key: string): WireRequest[] {
  const random = createRandom("note searches");
  const word = (): string => languages[0][Math.floor(20 * 200 ** random())] as string;
  return Array.from({ length: requestCount }, (_, at) =>
    search("notes", at % 3 === 2 ? `${word()} ${word()}` : word(), key),
  );
}

/** Creates a contact with a unique email and, if wanted, a unique Idempotency-Key. */
export function createContact(key: string, idempotent: boolean): WireRequest[] {
  const body = { full_name: `Ann Lee ${uniqueMark}`, email: `ann.${uniqueMark}@example.com`, phone: "+1 415 555 0100" };
  return [post("/v1/contacts", key, body, idempotent ? `Idempotency-Key: bench-${uniqueMark}\r\n` : "")];
}

/** Gives the contacts a unique phone number or name in turn. */
export function patchContact(contactIds: readonly string[], key: string, field: "phone" | "full_name"): WireRequest[] {
  return contactIds.map((id) => send("PATCH", `/v1/contacts/${id}`, key, { [field]: `+${uniqueMark}` }, ""));
}

export function appendNote(contactIds: readonly string[], key: string): WireRequest[] {
  const random = createRandom("appended notes");
  const words = (): string => Array.from({ length: 30 }, () => pick(random, languages[0])).join(" ");
  return contactIds.map((id) => post(`/v1/contacts/${id}/notes`, key, { content: words() }, ""));
}

export function getContactByConnect(account: AccountPlan, key: string): WireRequest[] {
  return contactIds(account).map((contactId) =>
    post(rpcPath, key, toJsonString(GetContactRequestSchema, create(GetContactRequestSchema, { contactId })), ""),
  );
}

/** GetContact over gRPC, for the same contacts. */
export function getContactByGrpc(account: AccountPlan, key: string): GrpcRequest[] {
  return contactIds(account).map((contactId) => ({
    kind: "grpc",
    path: rpcPath,
    authorization: `Bearer ${key}`,
    message: Buffer.from(toBinary(GetContactRequestSchema, create(GetContactRequestSchema, { contactId }))).toString(
      "base64",
    ),
  }));
}

export function search(list: "contacts" | "notes", query: string, key: string): WireRequest {
  return get(`/v1/${list}?query=${encodeURIComponent(query)}`, key);
}

function contactIds({ name, contacts }: AccountPlan): string[] {
  const random = createRandom("contacts asked for");
  return Array.from({ length: requestCount }, () => recordId(name, "contact", Math.floor(random() * contacts)));
}

function get(path: string, key: string): WireRequest {
  return { kind: "http1", bytes: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n` };
}

function post(path: string, key: string, body: object | string, headers: string): WireRequest {
  return send("POST", path, key, body, headers);
}

function send(
  method: "POST" | "PATCH",
  path: string,
  key: string,
  body: object | string,
  headers: string,
): WireRequest {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return { kind: "http1", bytes: `${head}${headers}\r\n${text}` };
}
