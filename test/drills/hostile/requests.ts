// Templates for the test cases: a valid request for every operation on every wire, and for every other path.
import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import type { Route } from "../../../src/http/route.ts";
import { table } from "../../../src/http/route.ts";
import { AccountService } from "../../../src/gen/records/admin/v1/accounts_pb.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Where } from "../isolation/operations.ts";
import type { User } from "../isolation/users.ts";
import { valuesOf } from "../isolation/values.ts";
import type { Sent } from "./wire.ts";

/** A named request. */
export interface Request {
  readonly name: string;
  /** True for gRPC, which needs HTTP/2. */
  readonly http2Only?: boolean;
  readonly sent: Sent;
}

const json = "application/json";
const mcpHeaders = { "content-type": json, accept: `${json}, text/event-stream`, "mcp-protocol-version": "2025-06-18" };

/** Returns all requests. `asset` is the path of the largest file of the reference page. */
export function requestsOf(where: Where, user: User, asset: string): Request[] {
  const by = { authorization: `Bearer ${user.key}` };
  const cookie = { cookie: user.cookie, origin: where.origin };
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Request => ({
    name: `${method} ${path.replace(/^\/docs\/.*\//, "/docs/…/")}`,
    sent: { base: where.base, method, path, headers },
  });
  const form = (path: string, headers: Record<string, string>): Request => ({
    name: `POST ${path}`,
    sent: {
      base: where.base,
      method: "POST",
      path,
      body: Buffer.from("logout_token=a.b.c"),
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    },
  });
  return [
    ...table.flatMap((route) => [
      rest(route, where, user),
      ...(route.credential === "session" ? [] : rpcs(route, where, user)),
    ]),
    // These two represent the RPCs of the internal listener other than health, which the library serves.
    ...[AccountService.method.getAccount, IngestService.method.upsertContacts].map(
      ({ parent, name }): Request => ({
        name: `${name} on the internal listener`,
        sent: {
          base: where.internal,
          method: "POST",
          path: `/${parent.typeName}/${name}`,
          body: Buffer.from("{}"),
          headers: { "content-type": json, authorization: `Bearer ${childToken}` },
        },
      }),
    ),
    { name: "GET /readyz", sent: { base: where.internal, method: "GET", path: "/readyz", headers: {} } },
    {
      name: "MCP tools/list",
      sent: {
        base: where.base,
        method: "POST",
        path: "/mcp",
        headers: { ...mcpHeaders, authorization: `Bearer ${user.token}` },
        body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'),
      },
    },
    ...[
      "/docs",
      "/guide",
      "/guide/search",
      "/openapi.json",
      "/llms.txt",
      "/.well-known/oauth-protected-resource",
      "/nowhere",
    ].map((path) => get(path)),
    get(asset, {}, "HEAD"),
    get("/", cookie),
    get("/sign-in"),
    get("/sign-in/callback?code=a&state=b", cookie),
    get("/v1/contacts", by, "OPTIONS"),
    // A foreign origin, so that the request does not sign anybody out.
    form("/sign-out", { ...cookie, origin: "http://elsewhere.example" }),
    form("/sign-out/back-channel", {}),
  ];
}

/** Values for the required fields of a route. */
function given(route: Route, user: User): JsonObject {
  const fields = [...route.path, ...route.query, ...(route.body?.fields ?? [])].filter(({ required }) => required);
  const some = fields.length === 0 || route.body === undefined ? (route.body?.fields.slice(0, 1) ?? []) : fields;
  return Object.fromEntries(
    [...fields, ...some].map(({ name }) => [name, valuesOf(name, user, user)?.own]),
  ) as JsonObject;
}

function rest(route: Route, { base, origin }: Where, user: User): Request {
  const { method, template, credential, body } = route;
  const values = given(route, user);
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
  const query = route.query.filter(({ name }) => name in values).map(({ name }) => `${name}=${String(values[name])}`);
  const properties = Object.fromEntries(
    (body?.fields ?? []).flatMap(({ name }) => (name in values ? [[name, values[name]]] : [])),
  );
  // A foreign origin, so that the service rejects changes to credentials that other cases need.
  const from = method === "GET" ? origin : "http://elsewhere.example";
  const by = credential === "session" ? { cookie: user.cookie, origin: from } : { authorization: `Bearer ${user.key}` };
  return {
    name: `${method} ${template}`,
    sent: {
      base,
      method,
      path: query.length === 0 ? path : `${path}?${query.join("&")}`,
      headers: body === undefined ? by : { ...by, "content-type": json },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(properties)),
    },
  };
}

function rpcs(route: Route, where: Where, user: User): Request[] {
  const { rpc } = route;
  const message = given(route, user);
  const binary = toBinary(rpc.input as DescMessage, fromJson(rpc.input, message));
  const text = Buffer.from(JSON.stringify(message));
  const path = `/${rpc.parent.typeName}/${rpc.name}`;
  const by = { authorization: `Bearer ${user.key}` };
  const post = (wire: string, type: string, body: Uint8Array, more: object = {}): Request => ({
    name: `${rpc.name} by ${wire}`,
    ...(wire === "gRPC" ? { http2Only: true } : {}),
    sent: { base: where.base, method: "POST", path, body, headers: { ...by, "content-type": type, ...more } },
  });
  const query = new URLSearchParams({ connect: "v1", encoding: "json", message: text.toString() });
  return [
    post("Connect", json, text),
    post("Connect in binary", "application/proto", binary),
    post("gRPC", "application/grpc", enveloped(binary), { te: "trailers" }),
    post("gRPC-Web", "application/grpc-web+proto", enveloped(binary)),
    ...(route.method !== "GET"
      ? []
      : [
          {
            name: `${rpc.name} by Connect's GET`,
            sent: { base: where.base, method: "GET", path: `${path}?${query.toString()}`, headers: by },
          },
        ]),
    {
      name: `${rpc.name} on the internal listener`,
      sent: {
        base: where.internal,
        method: "POST",
        path,
        body: text,
        headers: {
          "content-type": json,
          authorization: `Bearer ${childToken}`,
          "records-account-id": user.accountId,
        },
      },
    },
  ];
}

/** Wraps a message in a gRPC envelope. `flags` is 1 if it is compressed. */
export function enveloped(message: Uint8Array, flags = 0): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
