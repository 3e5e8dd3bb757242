// Assistants for the tests of the tools: signed in once through the forms, with the official client or with requests
// made by hand.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { letIn } from "../../fixtures/sign-in/assistants.ts";
import type { User } from "../../../src/embedded/provider/provider.ts";
import type { Ingest } from "../../fixtures/clients/ingest.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { noteSecret } from "../../fixtures/service/secrets.ts";
import type { RestResponse } from "../../fixtures/service/service.ts";
import { rest } from "../../fixtures/service/service.ts";
import type { SignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { ann } from "../../fixtures/sign-in/users.ts";

/** The revisions that are spoken at the one address, the newest first. */
export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] as const;
export type Revision = (typeof revisions)[number];

/** A user at an assistant: the token, and the same account's key for REST. */
export interface Holder {
  readonly url: string;
  readonly token: string;
  readonly accountId: string;
  readonly key: string;
  /** Writes into the account, as the services inside do. */
  readonly put: Ingest;
}

/** Signs a user in at an assistant that registers itself. */
export async function holderOf({ provider, service, base }: SignInFixture, user: User = ann): Promise<Holder> {
  const { token } = await letIn(provider.issuer, user);
  const account = (await service.app.services.accounts.list(1_000, 0, undefined)).find(
    ({ email }) => email === user.email,
  );
  if (account === undefined) throw new Error(`no account of ${user.email}`);
  const { secret: key } = await service.app.services.apiKeys.create(account._id, "read_write");
  noteSecret(key);
  const accountId = account._id.toHexString();
  return { url: `${base}/mcp`, token, accountId, key, put: ingestInto(service, accountId) };
}

/** The official client; `modern` requests the revision without initialize first. */
export async function connect({ url, token }: Pick<Holder, "url" | "token">, modern: boolean): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, modern ? { versionNegotiation: { mode: "auto" } } : {});
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
  );
  onTestFinished(() => client.close());
  return client;
}

/** The options of a request made by hand. */
export interface Post {
  readonly token?: string | undefined;
  readonly revision?: Revision;
  /** Replaces headers; undefined leaves one out. */
  readonly headers?: Record<string, string | undefined>;
  readonly method?: string;
}

/** Sends a text to the address; `body` is the JSON-RPC message that came back, also out of a stream of events. */
export async function post(
  url: string,
  text: string | Uint8Array,
  { token, headers = {}, method = "POST" }: Post,
): Promise<RestResponse> {
  const all = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    Authorization: token === undefined ? undefined : `Bearer ${token}`,
    ...headers,
  };
  const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const response = await rest(new URL(url).origin, new URL(url).pathname, {
    method,
    raw: text,
    headers: Object.fromEntries(sent),
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const data = response.text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6));
  return { ...response, body: JSON.parse(data.at(-1) ?? "null") };
}

/** A JSON-RPC request in the form of its revision: the newest one identifies the client in every request. */
export function message(
  revision: Revision,
  method: string,
  params: Record<string, unknown> = {},
  id: number | string | undefined = 1,
): Record<string, unknown> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const withMeta = revision === "2026-07-28" ? { ...params, _meta: meta } : params;
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method, params: withMeta };
}

export function headersFor(
  revision: Revision,
  method: string,
  params: Record<string, unknown> = {},
): Record<string, string> {
  const name = params["name"] ?? params["uri"];
  if (method === "initialize") return {};
  if (revision === "2025-03-26") return {};
  if (revision !== "2026-07-28") return { "MCP-Protocol-Version": revision };
  return {
    "MCP-Protocol-Version": revision,
    "Mcp-Method": method,
    ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
  };
}

/** One request by hand, as a client of the revision sends it. */
export function request(
  { url, token }: Pick<Holder, "url" | "token">,
  revision: Revision,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | undefined> = {},
): Promise<RestResponse> {
  return post(url, JSON.stringify(message(revision, method, params)), {
    token,
    headers: { ...headersFor(revision, method, params), ...headers },
  });
}

export interface Outcome {
  readonly isError: boolean;
  readonly text: string;
  // Tests read responses of every shape. An empty result is without its hint.
  // eslint-disable-next-line
  readonly structured: any;
  /** What an empty or incomplete result says to try. */
  readonly hint?: string | undefined;
}

/** One call of a tool, by hand. */
export async function call(
  holder: Pick<Holder, "url" | "token">,
  name: string,
  given: Record<string, unknown> = {},
  revision: Revision = "2026-07-28",
): Promise<Outcome> {
  const { body, text } = await request(holder, revision, "tools/call", { name, arguments: given });
  const result = body?.result;
  if (result === undefined) throw new Error(`${name}: ${text}`);
  const texts = result.content as readonly { readonly type: string; readonly text: string }[];
  const [only, ...others] = texts;
  if (only?.type !== "text" || others.length > 0) throw new Error(`${name}: the content is not one text`);
  const isError = result.isError === true;
  if (result.structuredContent === undefined) return { isError, text: only.text, structured: undefined };
  if (only.text !== JSON.stringify(result.structuredContent))
    throw new Error(`${name}: the text is not the structured content`);
  const { hint, ...members } = result.structuredContent;
  const structured = hint === undefined || members.truncated === true ? result.structuredContent : members;
  return { isError, text: only.text, structured, hint };
}
