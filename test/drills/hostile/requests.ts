// Templates for the test cases: a valid request for every operation on every wire, and for every other path.
import { AccountService } from "../../../src/gen/records/admin/v1/accounts_pb.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Where } from "../isolation/operations.ts";
import { rpcOperations } from "../isolation/operations.ts";
import type { Sent } from "../isolation/raw.ts";
import type { User } from "../isolation/users.ts";
import { valuesOf } from "../isolation/values.ts";

export interface Request {
  readonly name: string;
  /** True for gRPC, which needs HTTP/2. */
  readonly http2Only?: boolean;
  readonly sent: Sent;
}

const json = "application/json";
/** A foreign origin, so that the service rejects changes to credentials that other cases need. */
const elsewhere = "http://elsewhere.example";
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
  const operations = rpcOperations({ ...where, origin: elsewhere }).map(({ name, wire, writes, required, request }) => {
    const own = Object.fromEntries(required.map((field) => [field, valuesOf(field, user, user)?.own]));
    return { name, wire, writes, sent: request(own, user) };
  });
  return [
    ...operations.map(
      ({ name, wire, sent }): Request => ({
        name: wire === "REST" ? name : `${name} by ${wire}`,
        http2Only: wire === "gRPC",
        sent,
      }),
    ),
    ...operations
      .filter(({ wire, writes }) => wire === "Connect" && !writes)
      .map(({ name, sent }): Request => {
        const query = new URLSearchParams({ connect: "v1", encoding: "json", message: String(sent.body) });
        return { ...get(`${sent.path}?${query.toString()}`, by), name: `${name} by Connect's GET` };
      }),
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
    form("/sign-out", { ...cookie, origin: elsewhere }),
    form("/sign-out/back-channel", {}),
  ];
}
