// The ten rpcs called by REST, Connect, gRPC and gRPC-Web, each call with one uniform outcome.
import type { DescMethodUnary, DescService, JsonObject } from "@bufbuild/protobuf";
import { fromBinary, fromJson, toJson } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { Transport } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import type { TestService } from "./service.ts";
import { rest } from "./service.ts";
import type { Shape } from "./shapes.ts";
import {
  contact,
  foundNote,
  health,
  pagination,
  restForm,
  sessionDetail,
  sessionSummary,
  timelineNote,
  transcript,
} from "./shapes.ts";

export type WireName = "rest" | "connect" | "grpc" | "grpc-web";
export type Rpc = keyof typeof endpoints;
export type Fields = Readonly<Record<string, unknown>>;

/** One call, with the fields of the request by their REST names. */
export interface WireCall {
  readonly rpc: Rpc;
  readonly key?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly request: Fields;
}

/** What came of a call. */
export interface Outcome {
  /** The status of HTTP; unknown over gRPC and gRPC-Web, whose calls tell it in no other way than by the code. */
  readonly http: number | undefined;
  /** `ok`, or the code of the failure; unknown over REST. */
  readonly code: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The body in REST's form; undefined where the call failed. */
  readonly body: unknown;
}

export interface Wire {
  readonly name: WireName;
  call(call: WireCall): Promise<Outcome>;
}

interface Endpoint {
  readonly service: string;
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  /** The field of the rpc's answer that is `data` over REST, and what it holds. */
  readonly data: string;
  readonly shape: Shape;
  readonly many?: boolean;
  readonly paged?: boolean;
}

const contacts = "records.v1.ContactService";
const sessions = "records.v1.SessionService";

/** Which rpc is which endpoint: by hand, so that the generated table is held against it. */
export const endpoints = {
  CheckHealth: {
    service: "records.v1.HealthService",
    method: "GET",
    path: "/v1/health",
    data: "health",
    shape: health,
  },
  SearchContacts: {
    service: contacts,
    method: "GET",
    path: "/v1/contacts",
    data: "contacts",
    shape: contact,
    many: true,
  },
  CreateContact: { service: contacts, method: "POST", path: "/v1/contacts", data: "contact", shape: contact },
  GetContact: { service: contacts, method: "GET", path: "/v1/contacts/{contact_id}", data: "contact", shape: contact },
  UpdateContact: {
    service: contacts,
    method: "PATCH",
    path: "/v1/contacts/{contact_id}",
    data: "contact",
    shape: contact,
  },
  AppendContactNote: {
    service: contacts,
    method: "POST",
    path: "/v1/contacts/{contact_id}/notes",
    data: "note",
    shape: timelineNote,
  },
  ListSessions: {
    service: sessions,
    method: "GET",
    path: "/v1/sessions",
    data: "sessions",
    shape: sessionSummary,
    many: true,
    paged: true,
  },
  GetSession: {
    service: sessions,
    method: "GET",
    path: "/v1/sessions/{session_id}",
    data: "session",
    shape: sessionDetail,
  },
  GetSessionTranscript: {
    service: sessions,
    method: "GET",
    path: "/v1/sessions/{session_id}/transcript",
    data: "transcript",
    shape: transcript,
  },
  SearchNotes: {
    service: "records.v1.NoteService",
    method: "GET",
    path: "/v1/notes",
    data: "notes",
    shape: foundNote,
    many: true,
    paged: true,
  },
} as const satisfies Record<string, Endpoint>;

const descriptors: readonly DescService[] = [HealthService, ContactService, SessionService, NoteService];

/** The four wires to a service, and what closes them. */
export function openWires(service: Pick<TestService, "base">): { readonly wires: readonly Wire[]; close(): void } {
  const { base } = service;
  const sessionManager = new Http2SessionManager(base);
  const grpc = createGrpcTransport({ baseUrl: base, sessionManager });
  const grpcWeb = createGrpcWebTransport({ baseUrl: base, httpVersion: "1.1" });
  return {
    wires: [
      { name: "rest", call: (call) => callRest(base, call) },
      { name: "connect", call: (call) => callConnect(base, call) },
      { name: "grpc", call: (call) => callTransport(grpc, call) },
      { name: "grpc-web", call: (call) => callTransport(grpcWeb, call) },
    ],
    close: () => sessionManager.abort(),
  };
}

/** The request as REST spells it: path, query and body. */
export function restRequest(rpc: Rpc, request: Fields): { method: string; path: string; body?: Fields } {
  const { method, path } = endpoints[rpc];
  const left = new Map(Object.entries(request));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.get(name);
    left.delete(name);
    return encodeURIComponent(String(value));
  });
  if (method !== "GET") return { method, path: filled, body: Object.fromEntries(left) };
  const query = new URLSearchParams(
    [...left].map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { method, path: query === "" ? filled : `${filled}?${query}` };
}

async function callRest(base: string, { rpc, key, idempotencyKey, request }: WireCall): Promise<Outcome> {
  const { path, ...call } = restRequest(rpc, request);
  const { status, body } = await rest(base, path, {
    ...call,
    key,
    headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
  });
  if (status < 300) return { http: status, code: undefined, body };
  return { http: status, code: undefined, message: body.error.message as string, body: undefined };
}

async function callConnect(base: string, { rpc, request, ...call }: WireCall): Promise<Outcome> {
  const response = await fetch(`${base}/${endpoints[rpc].service}/${rpc}`, {
    method: "POST",
    headers: { ...metadata(call), "Content-Type": "application/json", "Connect-Protocol-Version": "1" },
    body: JSON.stringify(request),
  });
  const json = (await response.json()) as JsonObject;
  if (response.ok) return { http: response.status, code: "ok", body: restBody(rpc, json) };
  const details = (json["details"] ?? []) as { type: string; value: string }[];
  const info = details.find(({ type }) => type === "google.rpc.ErrorInfo");
  const reason = info && fromBinary(ErrorInfoSchema, base64Decode(info.value)).reason;
  return {
    http: response.status,
    code: String(json["code"]),
    reason,
    message: String(json["message"]),
    body: undefined,
  };
}

async function callTransport(transport: Transport, { rpc, request, ...call }: WireCall): Promise<Outcome> {
  const { service } = endpoints[rpc];
  const method = descriptors
    .find(({ typeName }) => typeName === service)
    ?.methods.find(({ name }) => name === rpc) as DescMethodUnary;
  try {
    const answer = await transport.unary(
      method,
      undefined,
      undefined,
      metadata(call),
      fromJson(method.input, request as JsonObject),
    );
    return { http: undefined, code: "ok", body: restBody(rpc, toJson(method.output, answer.message) as JsonObject) };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const code = Code[error.code].replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();
    return {
      http: undefined,
      code,
      reason: error.findDetails(ErrorInfoSchema)[0]?.reason,
      message: error.rawMessage,
      body: undefined,
    };
  }
}

function metadata({ key, idempotencyKey }: Pick<WireCall, "key" | "idempotencyKey">): Record<string, string> {
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
}

function restBody(rpc: Rpc, json: JsonObject): unknown {
  const { data, shape, many, paged }: Endpoint = endpoints[rpc];
  const record = json[data];
  const records =
    many === true ? ((record ?? []) as unknown[]).map((item) => restForm(shape, item)) : restForm(shape, record);
  return { data: records, ...(paged === true ? { pagination: restForm(pagination, json["pagination"]) } : {}) };
}
