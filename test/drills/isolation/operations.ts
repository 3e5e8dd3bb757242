// Every operation on every wire, from the routing table and the descriptors, with its fields and how to send it.
import type { DescMethod, DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { acceptShortEnumNames } from "../../../src/http/enum-names.ts";
import type { Route } from "../../../src/http/route.ts";
import { table } from "../../../src/http/route.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import { everyService } from "../../fixtures/clients/descriptors.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { User } from "./users.ts";
import type { RawResponse, Sent } from "./raw.ts";
import { send, sendHttp2 } from "./raw.ts";

/** Values of the fields. */
export type Given = Readonly<Record<string, unknown>>;

export interface Operation {
  /** For example, `GetContact by gRPC`. */
  readonly name: string;
  readonly wire: string;
  readonly writes: boolean;
  /** Whether the response contains records. */
  readonly shows: boolean;
  readonly idempotent: boolean;
  /** The names of all fields, and of those that are required. */
  readonly fields: readonly string[];
  readonly required: readonly string[];
  send(given: Given, as: User, headers?: Readonly<Record<string, string>>): Promise<RawResponse>;
  /** Decodes a success to text for comparison; undefined if the body is text. */
  readonly textOf?: (response: RawResponse) => string;
}

/** An operation whose request is known before it is sent. */
export interface RpcOperation extends Operation {
  request(given: Given, as: User): Sent;
}

export interface Where {
  readonly base: string;
  /** Its own origin, which a browser's `Origin` must equal. */
  readonly origin: string;
  readonly internal: string;
}

/** Required fields that the descriptor does not declare. */
const needed: Readonly<Record<string, readonly string[]>> = { searchTranscripts: ["query"] };

/** The reads that REST does not offer, as rows of the routing table. */
export const beyondRest: readonly Route[] = [...new Set(table.map(({ rpc }) => rpc.parent))]
  .flatMap(({ methods }) => methods as readonly DescMethodUnary[])
  .filter((rpc) => needed[rpc.localName] !== undefined && !table.some((route) => route.rpc === rpc))
  .map((rpc) => ({
    method: "GET",
    template: "",
    rpc,
    credential: "key",
    idempotencyKey: false,
    path: [],
    body: undefined,
    query: rpc.input.fields.map(({ name, localName }) => {
      const required = needed[rpc.localName]?.includes(name) === true;
      return { name, local: localName, kind: "string", required, nullable: true, instant: false };
    }),
    status: 200,
    write: () => ({}),
  }));

/** REST, the four RPC wires on the public listener, and Connect on the internal one. */
export function rpcOperations(where: Where): RpcOperation[] {
  for (const { rpc } of table) acceptShortEnumNames(rpc.input);
  return [
    ...beyondRest.flatMap((route) => rpcs(route, where)),
    ...table.flatMap((route) => [rest(route, where), ...(route.credential === "session" ? [] : rpcs(route, where))]),
  ];
}

/** Describes the RPCs on the records of an account that the drill does not call. */
export function unknownRpcs(): string[] {
  const called = new Set<DescMethod>([...table, ...beyondRest].map(({ rpc }) => rpc));
  return everyService
    .filter(({ typeName }) => !typeName.startsWith("records.admin.v1."))
    .flatMap(({ methods }) => methods)
    .filter((rpc) =>
      rpc.parent === IngestService
        ? rpc.methodKind !== "unary" && !["Import", "Export"].includes(rpc.name)
        : !called.has(rpc),
    )
    .map(({ name }) => `no value known for ${name}`);
}

/** The fields that the tool of an operation needs. */
export function requiredOf(operation: string): readonly string[] {
  const route = table.find(({ rpc }) => rpc.localName === operation);
  return route === undefined ? [] : facts(route).required;
}

function facts(route: Route): Omit<Operation, "name" | "wire" | "send"> {
  const fields = [...route.path, ...route.query, ...(route.body?.fields ?? [])];
  const required = fields.filter((field) => field.required);
  // A body of optional properties must have at least one.
  const some = required.some((field) => route.body?.fields.includes(field))
    ? []
    : (route.body?.fields.slice(0, 1) ?? []);
  const writes = route.method !== "GET";
  return {
    writes,
    shows: !writes && route.credential === "key",
    idempotent: route.idempotencyKey,
    fields: fields.map(({ name }) => name),
    required: [...required, ...some].map(({ name }) => name),
  };
}

function operationOf(made: Omit<RpcOperation, "send">): RpcOperation {
  return {
    ...made,
    send(given, as, more = {}) {
      const { base, method, path, body, ...request } = made.request(given, as);
      const headers = { ...request.headers, ...more };
      return made.wire === "gRPC"
        ? sendHttp2({ base, method, path, headers, body })
        : send(base, method, path, headers, body);
    },
  };
}

function rest(route: Route, { base, origin }: Where): RpcOperation {
  const { method, template, credential, body } = route;
  const inPath = new Set(route.path.map(({ name }) => name));
  return operationOf({
    ...facts(route),
    name: `${method} ${template}`,
    wire: "REST",
    request(given, as) {
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name])));
      const others = Object.entries(given).filter(([name]) => !inPath.has(name));
      const by = credential === "session" ? { cookie: as.cookie, origin } : { authorization: `Bearer ${as.key}` };
      if (body !== undefined) {
        const headers = { ...by, "content-type": "application/json" };
        return { base, method, path, headers, body: Buffer.from(JSON.stringify(Object.fromEntries(others))) };
      }
      const query = new URLSearchParams(others.map(([name, value]): [string, string] => [name, String(value)]));
      return { base, method, path: others.length === 0 ? path : `${path}?${query.toString()}`, headers: by };
    },
  });
}

function rpcs(route: Route, { base, internal }: Where): RpcOperation[] {
  const { rpc } = route;
  const fields = rpc.input.fields.map(({ name }) => name).filter((name) => name !== "update_mask");
  const json = (given: Given): Uint8Array => Buffer.from(JSON.stringify(jsonOf(route, given)));
  const binary = (given: Given): Uint8Array => toBinary(rpc.input, fromJson(rpc.input, jsonOf(route, given)));
  const inEnvelope = (given: Given): Uint8Array => encodeEnvelope(0, binary(given));
  const same = (body: Buffer): Uint8Array => body;
  const decoded = (bytes: Uint8Array): string => JSON.stringify(toJson(rpc.output, fromBinary(rpc.output, bytes)));
  const method = "POST";
  const path = `/${rpc.parent.typeName}/${rpc.name}`;
  const wires = [
    ["Connect", "application/json", json, undefined],
    ["Connect in binary", "application/proto", binary, same],
    ["gRPC", "application/grpc", inEnvelope, unwrapped],
    ["gRPC-Web", "application/grpc-web+proto", inEnvelope, unwrapped],
  ] as const;
  const ofRoute = { ...facts(route), fields, name: rpc.name };
  const operations = wires.map(([wire, type, write, read]) =>
    operationOf({
      ...ofRoute,
      wire,
      ...(read !== undefined && { textOf: ({ body }) => decoded(read(body)) }),
      request(given, as) {
        const by = { authorization: `Bearer ${as.key}`, ...(wire === "gRPC" && { te: "trailers" }) };
        return { base, method, path, headers: { "content-type": type, ...by }, body: write(given) };
      },
    }),
  );
  if (route.credential !== "key") return operations;
  return [
    ...operations,
    operationOf({
      ...ofRoute,
      wire: "the internal listener",
      request(given, { accountId }) {
        const by = { authorization: `Bearer ${childToken}`, "records-account-id": accountId };
        const headers = { "content-type": "application/json", ...by };
        return { base: internal, method, path, headers, body: json(given) };
      },
    }),
  ];
}

/** The request in protobuf's JSON. The mask names the fields in the body. */
function jsonOf(route: Route, given: Given): JsonObject {
  const json = { ...given } as JsonObject;
  if (route.body?.mask === undefined) return json;
  const named = route.body.fields.filter(({ name }) => name in given).map(({ local }) => local);
  return { ...json, [route.body.mask]: named.join(",") };
}

/** The first enveloped message of a body; empty if there is none. */
function unwrapped(body: Buffer): Uint8Array {
  return body.length < 5 || body.readUInt8(0) !== 0 ? new Uint8Array(0) : body.subarray(5, 5 + body.readUInt32BE(1));
}
