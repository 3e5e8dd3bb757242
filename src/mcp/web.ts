// Converts between Node's requests and responses and those of the Fetch standard, which the MCP library uses.
import { isUtf8 } from "node:buffer";
import { acceptsType } from "../call/negotiation.ts";
import type { Client } from "../http/body.ts";
import { receiveBytes } from "../http/body.ts";
import { maxLevels } from "../http/json.ts";
import { sanitizeForEcho } from "../text/text.ts";
import type { Request as NodeRequest, Response as NodeResponse } from "../call/exchange.ts";

/** The received body of a request. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** The parsed body; undefined if it is not JSON or is too large. */
  readonly json: unknown;
  /**
   * The number of JSON-RPC messages: 1 unless the body is a batch. An empty batch counts as 1, and the library rejects
   * it.
   */
  readonly messages: number;
}

const notJson = Buffer.from("not UTF-8");

/**
 * Receives the body. Returns undefined if the client has disconnected. Replaces a body that is too large by one a byte
 * over the limit, so that the library rejects it.
 */
export async function receiveMessages(
  request: NodeRequest,
  limit: number,
  client: Client,
): Promise<ReceivedBody | undefined> {
  const received = await receiveBytes(request, limit, client);
  if (received === "gone") return undefined;
  if (received === "too large") {
    request.resume();
    return { bytes: Buffer.alloc(limit + 1), json: undefined, messages: 1 };
  }
  const json = withObjectArguments(withoutCancellations(parsed(received)));
  // The library would replace invalid UTF-8 and then parse the result.
  const bytes = json === undefined && !isUtf8(received) ? notJson : received;
  return { bytes, json, messages: Array.isArray(json) ? Math.max(1, json.length) : 1 };
}

/** The most values in a body. The largest call that makes sense has some twenty. */
const maxValues = 1_000;

/**
 * Returns what is wrong with the size of JSON; undefined if nothing is. The library visits the levels by recursion,
 * which would exhaust the stack, and each value several times.
 */
export function excessOf(json: unknown): string | undefined {
  let left = maxValues;
  function visit(value: unknown, levels: number): string | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    if (levels === 0) return `the body must have at most ${maxLevels} levels of arrays and objects`;
    const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    left -= values.length;
    if (left < 0) return `the body must have at most ${maxValues} values`;
    for (const one of values) {
      const excess = visit(one, levels - 1);
      if (excess !== undefined) return excess;
    }
    return undefined;
  }
  return visit(json, maxLevels);
}

/**
 * Removes cancellations from a batch. One can only refer to a request in the same batch. The library would not respond
 * to that request, and would never end the stream. A server may ignore cancellations (MCP, Cancellation).
 */
function withoutCancellations(json: unknown): unknown {
  if (!Array.isArray(json)) return json;
  const kept = json.filter(
    (one) => (one as { readonly method?: unknown } | null)?.method !== "notifications/cancelled",
  );
  // A batch of cancellations alone is accepted unchanged.
  return kept.length === 0 ? json : kept;
}

/**
 * Returns the messages with their arguments as an object. Some clients send an object as JSON in a string, and PHP
 * writes an empty one as an array.
 */
function withObjectArguments(json: unknown): unknown {
  const read = (message: unknown): unknown => {
    if (!isObject(message) || !isObject(message["params"])) return message;
    const { arguments: given, ...params } = message["params"];
    const meant = typeof given === "string" ? parsed(Buffer.from(given)) : given;
    const isEmpty = given === "" || (Array.isArray(meant) && meant.length === 0);
    if (!isEmpty && (meant === given || !isObject(meant))) return message;
    return { ...message, params: { ...params, arguments: isEmpty ? {} : meant } };
  };
  return Array.isArray(json) ? json.map(read) : read(json);
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses JSON as the library does, without a byte order mark. Otherwise the mark would hide a batch from us, but not
 * from the library.
 */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The forms of a response that a client accepts. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly stream: boolean;
}

/** Returns the forms that an `Accept` header names or covers. */
export function acceptedForms(accept: string | undefined): AcceptedForms {
  // An empty header says no more than a missing one.
  const given = accept?.trim() || undefined;
  return { json: acceptsType(given, jsonType), stream: acceptsType(given, streamType) };
}

/**
 * Returns the headers with the `Accept` that the library requires: both types by name. A client that accepts only one
 * of them is served in that form.
 */
export function withNamedTypes(
  headers: NodeRequest["headers"],
  { json, stream }: AcceptedForms,
): NodeRequest["headers"] {
  return json || stream ? { ...headers, accept: `${jsonType}, ${streamType}` } : headers;
}

const jsonType = "application/json";
const streamType = "text/event-stream";

/** Returns a stream of responses as JSON: one message, or an array of those of a batch. Returns any other response. */
export async function streamAsJson(from: Response, isBatch: boolean): Promise<string | Response> {
  if (!(from.headers.get("content-type") ?? "").startsWith(streamType)) return from;
  // Only these characters end a line of a stream. JSON can contain the others, such as U+2028.
  const lines = (await from.text()).split(/[\r\n]+/);
  const messages = lines.flatMap((line) => /^data: ?(.+)$/s.exec(line)?.[1] ?? []);
  return isBatch ? `[${messages.join(",")}]` : messages.join();
}

/**
 * Returns the JSON with only those members of requests that JSON-RPC defines, and without null ones. Other members mean
 * nothing and null counts as absent, but the library would reject the whole message. Only the id of a request stays
 * null, and is rejected: without an id it would get no response. The JSON must not have too many levels (`excessOf`).
 */
export function withoutForeignMembers(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutForeignMembers);
  if (!isObject(json) || !("method" in json)) return json;
  const { id, ...members } = json;
  const isNotified = id === undefined || (id === null && /^notifications\//.test(String(json["method"])));
  const { jsonrpc, method, params } = withoutNulls(members) as typeof json;
  const defined = { jsonrpc, id: isNotified ? undefined : id, method, params };
  return Object.fromEntries(Object.entries(defined).filter(([, member]) => member !== undefined));
}

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/**
 * Returns the rejection of a batch in which two requests have one id; undefined for other JSON. The client could not
 * match the responses, and the library would send only one of them.
 */
export function rejectDuplicateIds(json: unknown): Response | undefined {
  if (!Array.isArray(json)) return undefined;
  const ids = json.flatMap((one) => (isObject(one) && "method" in one && "id" in one ? [one["id"]] : []));
  const id = ids.find((one, at) => ids.indexOf(one) !== at);
  if (id === undefined) return undefined;
  const message = `Two requests of the batch have the id ${sanitizeForEcho(JSON.stringify(id), 100)}. Give each request its own id.`;
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: invalidRequest, message } }, { status: 400 });
}

/**
 * Returns the rejection of a message whose members have the wrong form; undefined for other JSON. The library would
 * not say which members.
 */
export function rejectMalformed(json: unknown): Response | undefined {
  const found = [json].flat().find((one) => flawsOf(one).length > 0);
  if (found === undefined) return undefined;
  const { id } = found as { readonly id?: unknown };
  const isAnswerable = found === json && id !== undefined && isId(id);
  const flaws = flawsOf(found);
  const message = flaws.map(([path, , must]) => `${path.join(".")}: ${must}`).join("; ");
  // A request whose params alone are wrong gets a response, as it does for params that its method rejects.
  const isOfParams = isAnswerable && flaws.every(([[member]]) => member === "params");
  const error = { code: isOfParams ? invalidParams : invalidRequest, message };
  return Response.json({ jsonrpc: "2.0", id: isAnswerable ? id : null, error }, { status: isOfParams ? 200 : 400 });
}

/** The path to a member, the check of its value, and what it must be. */
type MemberRule = readonly [path: readonly string[], holds: (value: unknown) => boolean, must: string];

const isText = (value: unknown): boolean => typeof value === "string";
const isId = (value: unknown): boolean => isText(value) || Number.isSafeInteger(value);
const orAbsent =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || holds(value);
const memberRules: readonly MemberRule[] = [
  [["jsonrpc"], (value) => value === "2.0", 'must be "2.0"'],
  [["id"], orAbsent(isId), "must be a string or a whole number"],
  [["method"], isText, "must be a string"],
  [["params"], orAbsent(isObject), "must be an object"],
  [["params", "_meta"], orAbsent(isObject), "must be an object"],
  [["params", "_meta", "progressToken"], orAbsent(isId), "must be a string or a whole number"],
];

/** Returns the rules that a message breaks; none for a response, whose form only the library knows. */
function flawsOf(message: unknown): readonly MemberRule[] {
  if (!isObject(message) || "result" in message || "error" in message) return [];
  return memberRules.filter(([path, holds]) => {
    const value = path.reduce<unknown>((from, name) => (isObject(from) ? from[name] : undefined), message);
    return !holds(value);
  });
}

/** Returns the rejection of a body in a coding; undefined for any other body. */
export function rejectEncoded({
  "content-encoding": coding = "identity",
}: NodeRequest["headers"]): Response | undefined {
  if (coding.toLowerCase() === "identity") return undefined;
  const message = "Content-Encoding is not supported: send the body uncompressed";
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: invalidRequest, message } }, { status: 415 });
}

/** The codes of an invalid request and of invalid params (JSON-RPC 2.0 §5.1). */
const [invalidRequest, invalidParams] = [-32_600, -32_602];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Converts the request. It has a body only if that is not parsed yet: given parsed JSON, the library reads no stream.
 */
export function toWebRequest(
  method: string | undefined,
  sent: NodeRequest["headers"],
  url: string,
  { bytes, json }: ReceivedBody,
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    if (value !== undefined && !name.startsWith(":"))
      headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const body = json === undefined ? { body: bytes } : {};
  return new Request(url, { method: method ?? "POST", headers, ...body });
}

/** Writes a response, chunk by chunk if it is a stream, and ends it after `maxMs` milliseconds at the latest. */
export async function toResponse(from: Response, to: NodeResponse, maxMs: number): Promise<void> {
  const headers: Record<string, string> = Object.fromEntries(from.headers);
  // Node manages the connection, and HTTP/2 forbids the header (RFC 9113 §8.2.2).
  delete headers["connection"];
  to.writeHead(from.status, { "Cache-Control": "no-store", ...headers });
  if (from.body === null) return void to.end();
  const reader = from.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, maxMs);
  to.once("close", () => {
    clearTimeout(timer);
    cancel();
  });
  for (let part = await reader.read(); !part.done; part = await reader.read()) to.write(part.value as Uint8Array);
  to.end();
}
