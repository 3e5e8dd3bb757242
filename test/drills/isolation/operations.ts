// Every operation on every wire, from the routing table and the descriptors, with its fields and how to send it.
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { acceptShortEnumNames } from "../../../src/http/enum-names.ts";
import type { Route } from "../../../src/http/route.ts";
import { table } from "../../../src/http/route.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { User } from "./users.ts";
import type { RawResponse } from "./raw.ts";
import { send, sendGrpc } from "./raw.ts";

/** Values of the fields. */
export type Given = Readonly<Record<string, unknown>>;

/** An operation on one wire. */
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

/** Where an instance listens. */
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
export function rpcOperations(where: Where): Operation[] {
  for (const { rpc } of table) acceptShortEnumNames(rpc.input);
  const overRpc = (route: Route): Operation[] => [...rpcs(route, where.base), ...internal(route, where)];
  return [
    ...beyondRest.flatMap(overRpc),
    ...table.flatMap((route) => [rest(route, where), ...(route.credential === "session" ? [] : overRpc(route))]),
  ];
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

function rest(route: Route, { base, origin }: Where): Operation {
  const { method, template, credential, body } = route;
  return {
    ...facts(route),
    name: `${method} ${template}`,
    wire: "REST",
    send(given, as, headers = {}) {
      const inPath = new Set(route.path.map(({ name }) => name));
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name])));
      const others = Object.entries(given).filter(([name]) => !inPath.has(name));
      const query =
        body === undefined && others.length > 0
          ? `?${new URLSearchParams(others.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
          : "";
      const sent = body === undefined ? undefined : JSON.stringify(Object.fromEntries(others));
      const by = credential === "session" ? { cookie: as.cookie, origin } : { authorization: `Bearer ${as.key}` };
      return send(
        base,
        method,
        path + query,
        { ...by, ...(sent === undefined ? {} : { "content-type": "application/json" }), ...headers },
        sent,
      );
    },
  };
}

const binaryTypes = { connect: "application/proto", web: "application/grpc-web+proto" } as const;

function rpcs(route: Route, base: string): Operation[] {
  const { rpc } = route;
  const path = `${rpc.parent.typeName}/${rpc.name}`;
  const bearer = (as: User): Record<string, string> => ({ authorization: `Bearer ${as.key}` });
  const binary = (given: Given): Uint8Array => toBinary(rpc.input, fromJson(rpc.input, jsonOf(route, given)));
  const decoded = (bytes: Uint8Array): string => JSON.stringify(toJson(rpc.output, fromBinary(rpc.output, bytes)));
  const post = (type: string, body: Uint8Array | string, headers: Record<string, string>): Promise<RawResponse> =>
    send(base, "POST", `/${path}`, { "content-type": type, ...headers }, body);
  const all = {
    ...facts(route),
    fields: rpc.input.fields.map(({ name }) => name).filter((name) => name !== "update_mask"),
  };
  return [
    {
      ...all,
      name: rpc.name,
      wire: "Connect",
      send: (given, as, headers = {}) =>
        post("application/json", JSON.stringify(jsonOf(route, given)), { ...bearer(as), ...headers }),
    },
    {
      ...all,
      name: rpc.name,
      wire: "Connect in binary",
      textOf: ({ body }) => decoded(body),
      send: (given, as, headers = {}) => post(binaryTypes.connect, binary(given), { ...bearer(as), ...headers }),
    },
    {
      ...all,
      name: rpc.name,
      wire: "gRPC",
      textOf: ({ body }) => decoded(unwrapped(body)),
      send: (given, as, headers = {}) => sendGrpc(base, path, binary(given), { ...bearer(as), ...headers }),
    },
    {
      ...all,
      name: rpc.name,
      wire: "gRPC-Web",
      textOf: ({ body }) => decoded(unwrapped(body)),
      send: (given, as, headers = {}) => post(binaryTypes.web, wrapped(binary(given)), { ...bearer(as), ...headers }),
    },
  ];
}

function internal(route: Route, { internal: base }: Where): Operation[] {
  if (route.credential !== "key") return [];
  const path = `/${route.rpc.parent.typeName}/${route.rpc.name}`;
  const headers = (as: User): Record<string, string> => ({
    "content-type": "application/json",
    authorization: `Bearer ${childToken}`,
    "records-account-id": as.accountId,
  });
  return [
    {
      ...facts(route),
      name: route.rpc.name,
      wire: "the internal listener",
      send: (given, as, more = {}) =>
        send(base, "POST", path, { ...headers(as), ...more }, JSON.stringify(jsonOf(route, given))),
    },
  ];
}

/** The request in protobuf's JSON. The mask names the fields in the body. */
function jsonOf(route: Route, given: Given): JsonObject {
  const json = { ...given } as JsonObject;
  if (route.body?.mask === undefined) return json;
  const named = route.body.fields.filter(({ name }) => name in given).map(({ local }) => local);
  return { ...json, [route.body.mask]: named.join(",") };
}

function wrapped(message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The first enveloped message of a body; empty if there is none. */
function unwrapped(body: Buffer): Uint8Array {
  return body.length < 5 || body.readUInt8(0) !== 0 ? new Uint8Array(0) : body.subarray(5, 5 + body.readUInt32BE(1));
}
