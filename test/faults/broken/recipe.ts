// What an operation needs to be tried: a valid request, its success, and how often it has taken effect.
import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Document } from "mongodb";
import type { RestResponse } from "../../fixtures/service/service.ts";
import type { Lane } from "./lane.ts";

/** The outcome of a request. */
export type Outcome =
  | { readonly kind: "success" }
  | { readonly kind: "unavailable" }
  /** Anything else, in words. */
  | { readonly kind: "wrong"; readonly text: string };

/** A request that is ready. */
export interface Trial {
  send(): Promise<Outcome>;
  /** How often it has taken effect; a read has none. */
  effects?(): Promise<number>;
  /** True where the request may be sent again as it is, and has one effect however often it is sent. */
  readonly repeatable?: true;
  /** Removes what would be in the way of others. */
  clear?(): Promise<void>;
}

/** How an operation is tried. */
export interface Recipe {
  /** The full name of the rpc (`records.v1.ContactService/GetContact`), or what it is where it is none. */
  readonly operation: string;
  /** What is special about the request. */
  readonly variant?: string;
  /** True for an rpc that streams: it has no deadline. */
  readonly streams?: true;
  /** The collection whose batched writes the operation waits for. */
  readonly background?: string;
  prepare(lane: Lane): Promise<Trial>;
}

/** The operation and its variant. */
export function titleOf({ operation, variant }: Recipe): string {
  return variant === undefined ? operation : `${operation}, ${variant}`;
}

/** What the operation belongs to: operations of one service have their code in common. */
export function serviceOf({ operation }: Recipe): string {
  return operation.split("/")[0]?.replace(/^(MCP tool) .*/, "$1") ?? operation;
}

export const unavailable: Outcome = { kind: "unavailable" };
export const success: Outcome = { kind: "success" };

export function wrong(text: string): Outcome {
  return { kind: "wrong", text: text.slice(0, 300) };
}

/** What an HTTP response came to: `expected` is the status of a success. */
export function outcomeOf({ status, body, text }: RestResponse, expected: number): Outcome {
  if (status === expected) return success;
  // The envelope of REST and MCP, or Connect's.
  const isEnvelope = body?.error?.code === "503" && typeof body.error.message === "string";
  if (status === 503 && (isEnvelope || body?.code === "unavailable")) return unavailable;
  return wrong(`${status} ${text}`);
}

/** A text that was never used before. */
export function fresh(): string {
  return `t${randomUUID().replaceAll("-", "")}`;
}

/** Calls an rpc of the internal listener. An item that gets an error was not written. */
export async function call({ service }: Lane, rpc: string, message: Record<string, unknown>): Promise<Outcome> {
  const response = await service.internalCall(rpc, message);
  const outcome = outcomeOf(response, 200);
  const failed = ((response.body?.results ?? []) as { error?: unknown }[]).find(({ error }) => error !== undefined);
  return outcome.kind === "success" && failed !== undefined ? wrong(`an item failed: ${response.text}`) : outcome;
}

/** How many documents of a collection match, as an instance without a fault reads them. */
export function count({ whole }: Lane, collection: string, filter: Document): Promise<number> {
  return whole.app.client.db().collection(collection).countDocuments(filter);
}

/** Reads a stream to its end. */
export async function drained(stream: AsyncIterable<unknown>): Promise<Outcome> {
  try {
    for await (const message of stream) void message;
    return success;
  } catch (error) {
    const { code, message } = ConnectError.from(error);
    return code === Code.Unavailable ? unavailable : wrong(`${Code[code]} ${message}`);
  }
}
