// A call in every form that an rpc can be called in, as bytes: for messages that no client would send.
import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag, endStreamFromJson, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { BadRequestSchema, ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { http2Call } from "../fixtures/clients/http2-call.ts";

/** How a call is written, and over which HTTP. */
export interface Form {
  readonly name: string;
  readonly protocol: "connect" | "grpc" | "grpc-web";
  readonly json: boolean;
  readonly http: 1 | 2;
  readonly type: string;
  /** Whether it is a stream of Connect, where every message has an envelope. */
  readonly streams?: true;
}

function form(protocol: Form["protocol"], json: boolean, http: 1 | 2): Form {
  const codec = json ? "json" : "proto";
  return {
    name: `${protocol}, ${codec}, HTTP/${http}`,
    protocol,
    json,
    http,
    type: protocol === "connect" ? `application/${codec}` : `application/${protocol}+${codec}`,
  };
}

/** gRPC needs HTTP/2. */
export const forms: readonly Form[] = (["connect", "grpc", "grpc-web"] as const).flatMap((protocol) =>
  [true, false].flatMap((json) =>
    protocol === "grpc" ? [form(protocol, json, 2)] : [form(protocol, json, 1), form(protocol, json, 2)],
  ),
);

export const streamForms: readonly Form[] = forms
  .filter(({ http }) => http === 2)
  .map((one) =>
    one.protocol === "connect" ? { ...one, streams: true, type: one.type.replace("/", "/connect+") } : one,
  );

export interface Reply {
  /** HTTP's own. */
  readonly status: number;
  /** Headers and trailers alike. */
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** `ok`, or the code of the failure; undefined where the response is none of the protocol's. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly reason: string | undefined;
  /** `field: description`, by the details. */
  readonly violations: readonly string[];
}

export type Sent = Record<string, string>;

export function written<M extends DescMethod>({ json }: Form, rpc: M, message: MessageInitShape<M["input"]>): Buffer {
  const whole = create(rpc.input, message as never);
  return Buffer.from(json ? JSON.stringify(toJson(rpc.input, whole)) : toBinary(rpc.input, whole));
}

export function enveloped({ protocol, streams }: Form, message: Uint8Array, flags = 0): Buffer {
  return Buffer.from(protocol === "connect" && streams !== true ? message : encodeEnvelope(flags, message));
}

/** The header that reports how the message is compressed. */
export function encoding({ protocol }: Form, name: string): Sent {
  return { [protocol === "connect" ? "content-encoding" : "grpc-encoding"]: name };
}

export async function send(
  base: string,
  form: Form,
  rpc: DescMethod,
  body: Uint8Array,
  headers: Sent = {},
): Promise<Reply> {
  const path = `/${rpc.parent.typeName}/${rpc.name}`;
  const sent = { "content-type": form.type, ...headers };
  if (form.http === 1) {
    const response = await fetch(base + path, { method: "POST", headers: sent, body });
    return replyOf(form, response.status, response.headers, Buffer.from(await response.arrayBuffer()));
  }
  const {
    status,
    headers: received,
    bytes,
  } = await http2Call(base, { ":method": "POST", ":path": path, te: "trailers", ...sent }, body);
  const plain = Object.entries(received)
    .filter(([name]) => !name.startsWith(":"))
    .map(([name, value]): [string, string] => [name, String(value)]);
  return replyOf(form, status, new Headers(plain), bytes);
}

/** Calls by Connect's GET. */
export async function get(base: string, rpc: DescMethod, query: string, headers: Sent = {}): Promise<Reply> {
  const response = await fetch(`${base}/${rpc.parent.typeName}/${rpc.name}${query}`, { headers });
  return replyOf(
    form("connect", true, 1),
    response.status,
    response.headers,
    Buffer.from(await response.arrayBuffer()),
  );
}

function replyOf({ protocol, streams }: Form, status: number, headers: Headers, bytes: Buffer): Reply {
  const all = new Headers(headers);
  if (protocol === "grpc-web") for (const [name, value] of trailers(bytes)) all.set(name, value);
  const end = streams === true && status === 200 ? endOfStream(bytes) : undefined;
  const error = end?.error ?? (protocol === "connect" ? connectError(status, bytes) : findTrailerError(all));
  const ok = protocol === "connect" ? status === 200 && end?.error === undefined : all.get("grpc-status") === "0";
  return {
    status,
    headers: all,
    bytes,
    code: ok ? "ok" : error && Code[error.code].replace(/(?!^)[A-Z]/g, "_$&").toLowerCase(),
    message: error?.rawMessage,
    reason: error?.findDetails(ErrorInfoSchema)[0]?.reason,
    violations:
      error
        ?.findDetails(BadRequestSchema)[0]
        ?.fieldViolations.map(({ field, description }) => `${field}: ${description}`) ?? [],
  };
}

function connectError(status: number, bytes: Buffer): ConnectError | undefined {
  if (status === 200) return undefined;
  const none = new ConnectError("no error of Connect's", Code.Unknown);
  try {
    const error = errorFromJsonBytes(bytes, undefined, none);
    return error === none ? undefined : error;
  } catch {
    return undefined;
  }
}

/** The trailers of gRPC-Web are in the body, in an envelope of their own. */
function trailers(bytes: Buffer): Iterable<[string, string]> {
  const last = envelopeWith(0x80, bytes);
  return last === undefined ? [] : trailerParse(last);
}

/** So is the end of a stream of Connect. */
function endOfStream(bytes: Buffer): { readonly error?: ConnectError | undefined } {
  const last = envelopeWith(endStreamFlag, bytes);
  return last === undefined ? { error: new ConnectError("no end", Code.Unknown) } : endStreamFromJson(last);
}

function envelopeWith(flag: number, bytes: Buffer): Buffer | undefined {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    if ((bytes.readUInt8(at) & flag) !== 0) return bytes.subarray(at + 5, end);
    at = end;
  }
  return undefined;
}
