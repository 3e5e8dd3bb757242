// Create and append over every wire, so that one test can ask the same of all of them.
import { toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import {
  AppendContactNoteResponseSchema,
  ContactService,
  CreateContactResponseSchema,
} from "../../src/gen/records/v1/contacts_pb.ts";
import { rest } from "../support/service.ts";

/** Where to send a request, and as whom. */
export interface Target {
  readonly base: string;
  readonly key: string;
}

/** What a wire answered, in terms that all wires share. */
export interface WireAnswer {
  /** "ok", or the name of the failure: the HTTP status on REST, the code on the others. */
  readonly outcome: string;
  readonly id: string;
  /** The answer as it was sent: the body on REST, the message's JSON on the others. */
  readonly text: string;
  readonly replayed: boolean;
}

/** The fields of a new contact. */
export interface NewContact {
  readonly full_name: string;
  readonly email?: string;
}

/** One wire's two operations that take an idempotency key. Both reject where no answer comes. */
export interface Wire {
  create(target: Target, idempotencyKey: string, contact: NewContact): Promise<WireAnswer>;
  append(target: Target, idempotencyKey: string, contactId: string, content: string): Promise<WireAnswer>;
}

const restWire: Wire = {
  create: (target, idempotencyKey, body) => overRest(target, "/v1/contacts", idempotencyKey, body),
  append: (target, idempotencyKey, contactId, content) =>
    overRest(target, `/v1/contacts/${contactId}/notes`, idempotencyKey, { content }),
};

async function overRest(
  { base, key }: Target,
  path: string,
  idempotencyKey: string,
  body: unknown,
): Promise<WireAnswer> {
  const answer = await rest(base, path, { key, body, headers: { "Idempotency-Key": idempotencyKey } });
  return {
    outcome: answer.status === 201 ? "ok" : String(answer.status),
    id: answer.body?.data?.id ?? "",
    text: answer.text,
    replayed: answer.headers.get("idempotent-replayed") === "true",
  };
}

function rpcWire(transportOf: (base: string) => ReturnType<typeof createGrpcTransport>): Wire {
  const clients = new Map<string, ReturnType<typeof clientOf>>();
  function clientOf(base: string) {
    return createClient(ContactService, transportOf(base));
  }
  function client(base: string): ReturnType<typeof clientOf> {
    const known = clients.get(base) ?? clientOf(base);
    clients.set(base, known);
    return known;
  }
  async function answered(
    work: (onHeader: (headers: Headers) => void) => Promise<{ id: string; text: string }>,
  ): Promise<WireAnswer> {
    let replayed = false;
    try {
      return {
        outcome: "ok",
        ...(await work((headers) => (replayed = headers.get("idempotent-replayed") === "true"))),
        replayed,
      };
    } catch (error) {
      const { code, details } = ConnectError.from(error);
      // A failure of ours has details. One without comes from the connection: no answer, as where fetch rejects.
      if (details.length === 0) throw error;
      return { outcome: Code[code], id: "", text: String(error), replayed };
    }
  }
  const metadata = (key: string, idempotencyKey: string) => ({
    authorization: `Bearer ${key}`,
    "idempotency-key": idempotencyKey,
  });
  return {
    create: ({ base, key }, idempotencyKey, { full_name, email }) =>
      answered(async (onHeader) => {
        const request = { fullName: full_name, ...(email === undefined ? {} : { email }) };
        const message = await client(base).createContact(request, { headers: metadata(key, idempotencyKey), onHeader });
        return { id: message.contact?.id ?? "", text: JSON.stringify(toJson(CreateContactResponseSchema, message)) };
      }),
    append: ({ base, key }, idempotencyKey, contactId, content) =>
      answered(async (onHeader) => {
        const message = await client(base).appendContactNote(
          { contactId, content },
          { headers: metadata(key, idempotencyKey), onHeader },
        );
        return { id: message.note?.id ?? "", text: JSON.stringify(toJson(AppendContactNoteResponseSchema, message)) };
      }),
  };
}

/** Every wire on the public listener. */
export const wires = {
  REST: restWire,
  Connect: rpcWire((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })),
  gRPC: rpcWire((baseUrl) => createGrpcTransport({ baseUrl })),
  "gRPC-Web": rpcWire((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
} satisfies Record<string, Wire>;
