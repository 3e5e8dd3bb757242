// The attacks of one client. None of them may starve other clients.
import { randomBytes, randomInt } from "node:crypto";
import { gzipSync } from "node:zlib";
import { table } from "../../../src/http/route.ts";
import { newSecret } from "../../../src/api-keys/secret.ts";

/** The attacker's account, and public data that it has found. */
export interface Means {
  readonly base: string;
  /** A valid key and a valid token, both of the attacker's own account. */
  readonly key: string;
  readonly token: string;
  /** Expired tokens, and tokens that another key has signed. */
  readonly badTokens: readonly string[];
  /** The paths that the public listener serves without a credential. */
  readonly documents: readonly string[];
}

export interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** True to reset the stream as soon as the request is sent (HTTP/2). */
  readonly isReset?: boolean;
}

export interface Attack {
  readonly name: string;
  readonly version: "HTTP/1.1" | "HTTP/2";
  readonly connections: number;
  /** The maximum requests per second: far above the limit, but within what the machine can take. */
  readonly perSecond: number;
  /** True if the attacker's account needs the largest records. */
  readonly needsLargest?: boolean;
  /** Prepares the common data of all requests, and returns a function that makes the next one. */
  arm(means: Means): () => Shot;
}

/** The attacker's address in the trusted proxy's header. */
const address = "203.0.113.66";
const json = "application/json";
const mcp = { "content-type": json, accept: `${json}, text/event-stream`, "mcp-protocol-version": "2025-03-26" };
const search = "/v1/contacts?query=ab";
/** Finds the attacker's contacts, which have the maximum of notes of the maximum length. */
const largeSearch = "/v1/contacts?query=large";

function get(path: string, headers: Readonly<Record<string, string>> = {}, from = address): Shot {
  return { method: "GET", path, headers: { "x-forwarded-for": from, ...headers } };
}

function post(path: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array): Shot {
  return { method: "POST", path, headers: { "x-forwarded-for": address, ...headers }, body: Buffer.from(body) };
}

/** An unknown key with a valid checksum, which anyone can calculate. */
function forgedKey(): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${newSecret()}` };
}

function cycle<T>(all: readonly T[]): () => T {
  let at = 0;
  return () => all[at++ % all.length] as T;
}

const usual = { version: "HTTP/1.1", connections: 200, perSecond: 2_000 } as const;

/** All attacks. Those of the short form come first. */
export const attacks: readonly Attack[] = [
  { ...usual, name: "forged API keys", arm: () => () => get(search, forgedKey()) },
  {
    ...usual,
    name: "forged session cookies",
    arm: () => () => get("/v1/api-key", { cookie: `records_session=${randomBytes(32).toString("base64url")}` }),
  },
  {
    ...usual,
    name: "forged keys from addresses of one IPv6 network",
    arm: () => () => {
      const host = Array.from({ length: 4 }, () => randomInt(65_536).toString(16)).join(":");
      return get(search, forgedKey(), `2001:db8:1:2:${host}`);
    },
  },
  {
    ...usual,
    name: "forged keys with made-up client addresses",
    arm: () => () => get(search, forgedKey(), `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}, ${address}`),
  },
  {
    ...usual,
    name: "forged and expired access tokens",
    arm({ badTokens, token }) {
      const bad = cycle(badTokens);
      const signed = token.slice(0, token.lastIndexOf(".") + 1);
      const forged = cycle([
        bad,
        () => signed + randomBytes(256).toString("base64url"),
        () => randomBytes(32).toString("base64url"),
      ]);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      return () => post("/mcp", { ...mcp, authorization: `Bearer ${forged()()}` }, body);
    },
  },
  {
    ...usual,
    name: "compressed bodies of a megabyte to every RPC",
    arm({ key }) {
      const body = gzipSync(JSON.stringify({ query: "a".repeat(1_000_000) }));
      const paths = table.map(({ rpc }) => `/${rpc.parent.typeName}/${rpc.name}`);
      const shots = paths.flatMap((path) =>
        [{}, { authorization: `Bearer ${key}` }].map((by) =>
          post(path, { ...by, "content-type": json, "content-encoding": "gzip" }, body),
        ),
      );
      return cycle(shots);
    },
  },
  {
    ...usual,
    name: "headers of 60 kB over HTTP/2",
    version: "HTTP/2",
    connections: 20,
    perSecond: 500,
    arm: () =>
      cycle(
        ["cookie", "accept-encoding", "authorization", "x-unknown"].map((name) =>
          get(search, { [name]: "a; b=c, ".repeat(7_000) }),
        ),
      ),
  },
  {
    ...usual,
    name: "JSON-RPC batches",
    arm({ token }) {
      const call = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "search_notes", arguments: { query: "ab" } },
      };
      const body = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ ...call, id })));
      return () => post("/mcp", { ...mcp, authorization: `Bearer ${token}` }, body);
    },
  },
  {
    ...usual,
    name: "reset streams",
    needsLargest: true,
    version: "HTTP/2",
    connections: 20,
    perSecond: 10_000,
    arm:
      ({ key }) =>
      () => ({ ...get(largeSearch, { authorization: `Bearer ${key}` }), isReset: true }),
  },
  {
    ...usual,
    name: "the largest responses",
    needsLargest: true,
    arm:
      ({ key }) =>
      () =>
        get(largeSearch, { authorization: `Bearer ${key}` }),
  },
  {
    ...usual,
    name: "all documents at once",
    arm: ({ documents }) => cycle(documents.map((path) => get(path))),
  },
  { ...usual, name: "no credentials at all", arm: () => () => get(search) },
];
