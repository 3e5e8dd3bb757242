// How to test an operation: a valid request, its success, and how often it took effect.
import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Document } from "mongodb";
import type { RestResponse } from "../../fixtures/service/service.ts";
import type { Lane } from "./lane.ts";

export type Outcome =
  | { readonly kind: "success" }
  | { readonly kind: "unavailable" }
  /** Anything else, with a description. */
  | { readonly kind: "wrong"; readonly text: string };

export interface Trial {
  send(): Promise<Outcome>;
  /** How often it took effect; absent for a read. */
  effects?(): Promise<number>;
  /** True if the request is idempotent. */
  readonly repeatable?: true;
  /** Removes what would disturb other trials. */
  clear?(): Promise<void>;
}

/** How to test an operation. */
export interface Recipe {
  /** The full name of the RPC (`records.v1.ContactService/GetContact`), or a description of another operation. */
  readonly operation: string;
  /** Distinguishes requests to the same operation. */
  readonly variant?: string;
  /** True for a streaming RPC, which has no deadline. */
  readonly streams?: true;
  /** The collection whose batched writes the operation waits for. */
  readonly background?: string;
  prepare(lane: Lane): Promise<Trial>;
}

export function titleOf({ operation, variant }: Recipe): string {
  return variant === undefined ? operation : `${operation}, ${variant}`;
}

/** The service of the operation. Operations of a service share code. */
export function serviceOf({ operation }: Recipe): string {
  return operation.split("/")[0]?.replace(/^(MCP tool) .*/, "$1") ?? operation;
}

export const unavailable: Outcome = { kind: "unavailable" };
export const success: Outcome = { kind: "success" };

export function wrong(text: string): Outcome {
  return { kind: "wrong", text: text.slice(0, 300) };
}

/** The outcome of an HTTP response. `expected` is the status of a success. */
export function outcomeOf({ status, body, text }: RestResponse, expected: number): Outcome {
  if (status === expected) return success;
  // The envelope of REST and MCP, or Connect's.
  const isEnvelope = body?.error?.code === "503" && typeof body.error.message === "string";
  if (status === 503 && (isEnvelope || body?.code === "unavailable")) return unavailable;
  return wrong(`${status} ${text}`);
}

export function fresh(): string {
  return `t${randomUUID().replaceAll("-", "")}`;
}

/** Calls an RPC on the internal listener. An item with an error counts as a failure. */
export async function call({ service }: Lane, rpc: string, message: Record<string, unknown>): Promise<Outcome> {
  const response = await service.internalCall(rpc, message);
  const outcome = outcomeOf(response, 200);
  const failed = ((response.body?.results ?? []) as { error?: unknown }[]).find(({ error }) => error !== undefined);
  return outcome.kind === "success" && failed !== undefined ? wrong(`an item failed: ${response.text}`) : outcome;
}

/** Counts matching documents through an instance without faults. */
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
