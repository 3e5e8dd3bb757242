// Calls to every surface of an instance. Each response is either served or unavailable.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { randomUUID } from "node:crypto";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Acknowledged } from "../../fixtures/records/stream.ts";
import { send } from "../../fixtures/sign-in/assistants.ts";
import { sendRequest } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse } from "../../fixtures/service/service.ts";
import type { Fields, Outcome, Rpc, Wire, WireName } from "../../fixtures/clients/wires.ts";
import { openWires } from "../../fixtures/clients/wires.ts";
import type { Site } from "./site.ts";

/** What a call depends on. */
export type Kind =
  /** Nothing. */
  | "open"
  /** Reading or writing records. */
  | "read"
  | "write"
  /** The session of a user at the dashboard. */
  | "user"
  /** An access token, and the records. */
  | "assistant"
  /** The identity provider's metadata. */
  | "sign-in"
  /** gRPC health and readiness, which report whether records are available. */
  | "serving";

/** `served`, `unavailable` (503, UNAVAILABLE, NOT_SERVING), or a description of any other outcome. */
export type Word = string;

/** A request that can be sent repeatedly. */
export interface Call {
  readonly name: string;
  readonly kind: Kind;
  /** Never rejects: a missing response is described too. */
  send(): Promise<Word>;
}

/** The outcome of every write. */
export interface Ledger {
  readonly acknowledged: Acknowledged[];
  /** Writes with an idempotency key that were not acknowledged and will be retried. */
  readonly unacknowledged: Write[];
}

/** A write of one record, which contains `name`. */
export interface Write {
  readonly wire: WireName;
  readonly rpc: Rpc;
  readonly name: string;
  readonly collection: Acknowledged["collection"];
  readonly request: Fields;
  readonly keyed: boolean;
}

/** All calls to one instance. */
export interface Surfaces {
  readonly calls: readonly Call[];
  /** Sends a write, possibly a retry. Never rejects. */
  write(write: Write): Promise<Word>;
  /** Requests something without dependencies. Its latency shows how busy the machine is. */
  idle(): Promise<unknown>;
  /** Waits for every response before it closes the connections. */
  close(): Promise<void>;
}

/**
 * The surfaces of an instance. `known` is an access token that the instance may have seen before. Writes are recorded
 * in the ledger.
 */
export function surfacesOf(
  site: Site,
  { base, internalPort }: Pick<ChildInstance, "base" | "internalPort">,
  known: string,
  ledger: Ledger,
): Surfaces {
  const {
    account: { key },
    cookie,
    contactIds,
    sessionId,
  } = site;
  const [contactId = "", ...others] = contactIds;
  // Each call gets its own contact, to avoid conflicts between them.
  const another = (): string => others.pop() ?? contactId;
  // Uses the service's own host name; it would redirect a browser there from any other.
  const [page, internal] = [base.replace("127.0.0.1", "localhost"), `http://127.0.0.1:${internalPort}`];
  const { wires, close } = openWires({ base });
  const wireOf = (name: WireName): Wire => wires.find((wire) => wire.name === name) as Wire;
  const health = createClient(Health, createGrpcTransport({ baseUrl: internal }));
  const underWay = new Set<Promise<Word>>();
  function completed(work: () => Promise<Word>): Promise<Word> {
    const word = work().catch((error: unknown) => `no response (${String(error)})`);
    underWay.add(word);
    void word.then(() => underWay.delete(word));
    return word;
  }
  const call = (name: string, kind: Kind, work: () => Promise<Word>): Call => ({
    name,
    kind,
    send: () => completed(work),
  });
  const httpCall = (name: string, kind: Kind, work: () => Promise<RestResponse>, right: number): Call =>
    call(name, kind, async () => wordOf(await work(), right));

  const reads: readonly (readonly [Rpc, Fields])[] = [
    ["SearchContacts", { query: "ann" }],
    ["GetContact", { contact_id: contactId }],
    ["ListSessions", {}],
    ["GetSession", { session_id: sessionId }],
    ["GetSessionTranscript", { session_id: sessionId }],
    ["SearchNotes", { query: "hello" }],
  ];
  const writes: readonly (readonly [
    rpc: Rpc,
    collection: Acknowledged["collection"],
    request: (name: string, of: string) => Fields,
  ])[] = [
    ["CreateContact", "contacts", (full_name) => ({ full_name })],
    ["AppendContactNote", "notes", (content, contact_id) => ({ contact_id, content })],
  ];

  const write = ({ wire, rpc, name, collection, request, keyed }: Write): Promise<Word> =>
    completed(async () => {
      const outcome = await wireOf(wire).call({ rpc, key, request, ...(keyed ? { idempotencyKey: name } : {}) });
      const { data } = (outcome.body ?? {}) as { data?: { id: string } };
      if (data !== undefined) ledger.acknowledged.push({ name, id: data.id, collection });
      return said(outcome);
    });

  function writing(wire: WireName, [rpc, collection, request]: (typeof writes)[number], keyed: boolean): Call {
    const of = another();
    return {
      name: `${wire} ${rpc} ${keyed ? "with" : "without"} a key`,
      kind: "write",
      async send() {
        const name = randomUUID();
        const one: Write = { wire, rpc, name, collection, request: request(name, of), keyed };
        const word = await write(one);
        if (keyed && word !== "served") ledger.unacknowledged.push(one);
        return word;
      },
    };
  }
  const calling = (wire: WireName, rpc: Rpc, kind: Kind, request: Fields): Call =>
    call(`${wire} ${rpc}`, kind, async () => said(await wireOf(wire).call({ rpc, key, request })));

  const tool = { method: "tools/call", params: { name: "search_contacts", arguments: { query: "ann" } } };
  return {
    calls: [
      ...(["rest", "grpc"] as const).flatMap((wire) => [
        calling(wire, "CheckHealth", "open", {}),
        ...reads.map(([rpc, request]) => calling(wire, rpc, "read", request)),
        ...writes.flatMap((write) => [true, false].map((keyed) => writing(wire, write, keyed))),
        calling(wire, "UpdateContact", "write", { contact_id: another(), phone: "+33639987562" }),
      ]),
      call("gRPC health", "serving", async () =>
        (await health.check({})).status === Status.SERVING ? "served" : "unavailable",
      ),
      httpCall("/readyz", "serving", () => sendRequest(`${internal}/readyz`), 200),
      call("an MCP tool with a known token", "assistant", async () =>
        toolWord(await send(base, `Bearer ${known}`, tool)),
      ),
      call("an MCP tool with a new token", "assistant", async () =>
        toolWord(await send(base, `Bearer ${await site.token()}`, tool)),
      ),
      httpCall("a request without a key", "open", () => sendRequest(`${base}/v1/sessions`), 401),
      httpCall("the page when signed out", "open", () => sendRequest(`${page}/`, { accept: "text/html" }), 200),
      httpCall("the page when signed in", "user", () => sendRequest(`${page}/`, { cookie, accept: "text/html" }), 200),
      httpCall("the user's API key", "user", () => sendRequest(`${page}/v1/api-key`, { cookie }), 200),
      httpCall(
        "the redirect to the provider",
        "sign-in",
        () => sendRequest(`${page}/sign-in`, { accept: "text/html" }),
        303,
      ),
      httpCall(
        "the provider's metadata",
        "sign-in",
        () => sendRequest(`${page}/.well-known/oauth-authorization-server`),
        200,
      ),
    ],
    write,
    idle: () => sendRequest(`${internal}/livez`),
    async close() {
      await Promise.all(underWay);
      close();
    },
  };
}

function said({ http, code, message = "" }: Outcome): Word {
  if (code === "ok" || (http !== undefined && http < 300)) return "served";
  // The client's own codes for a broken connection. Node closes its streams with CANCEL if there is no error.
  if ((code === "aborted" || code === "canceled") && /ECONNRESET|closed/.test(message))
    return `no response (${message})`;
  return http === 503 || code === "unavailable" ? "unavailable" : `${code ?? http} ${message}`;
}

function wordOf({ status, text }: RestResponse, right: number): Word {
  if (status === right) return "served";
  return status === 503 ? "unavailable" : `${status} ${text.slice(0, 200)}`;
}

/** A tool that is unavailable reports that in its result, not as a protocol error. */
function toolWord(response: RestResponse): Word {
  const word = wordOf(response, 200);
  if (word !== "served") return word;
  const { result } = JSON.parse(/^data: (.*)$/m.exec(response.text)?.[1] ?? response.text) as {
    result?: { isError?: boolean; content: { text: string }[] };
  };
  if (result === undefined) return `no result: ${response.text.slice(0, 200)}`;
  if (result.isError !== true) return "served";
  const text = result.content.map((part) => part.text).join(" ");
  return /cannot respond right now|could not respond in time/.test(text) ? "unavailable" : `the tool returned ${text}`;
}
