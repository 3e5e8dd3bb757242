// What the gateway expects of a row of the generated routing table; src/gen/rest.ts is checked against it by the
// compiler.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { routes } from "../src/gen/rest.ts";

/**
 * One REST operation: which request it serves, the rpc behind it, and how its message is read and its response written.
 */
export interface Route {
  readonly method: string;
  readonly template: string;
  readonly rpc: DescMethodUnary;
  readonly credential: "key" | "none" | "session";
  readonly idempotencyKey: boolean;
  /** In the order of the template. */
  readonly path: readonly RequestField[];
  readonly query: readonly RequestField[];
  /** Undefined where a body is not read. */
  readonly body: RequestBody | undefined;
  /** The HTTP status of a success. */
  readonly status: number;
  /**
   * The whole body of a success, `data` and what is beside it, ready for JSON.stringify. `message` is of
   * `rpc.output`.
   */
  write(message: Message, documentProvider: string): object;
  /** What Connect, gRPC and assistants have, and REST does not. */
  readonly beyond?: Beyond;
  /** The `Location` of a success. `message` is of `rpc.output`. */
  location?(message: Message): string;
}

/** What a request and its response have beyond REST. */
export interface Beyond {
  readonly fields: readonly RequestField[];
  /** The JSON Schemas of these fields, by their names. */
  readonly parameters: Readonly<Record<string, object>>;
  /** The JSON Schemas of what `write` adds to the body. */
  readonly response: Readonly<Record<string, object>>;
  write(message: Message): object;
}

/** The properties of a request body. */
export interface RequestBody {
  /** True where a request without a body is rejected. */
  readonly required: boolean;
  readonly fields: readonly RequestField[];
  /**
   * The local name of the `google.protobuf.FieldMask` that takes the names of the properties sent; at least one must
   * be.
   */
  readonly mask?: string;
}

/** A scalar of a request: how REST spells it, where it goes in the message, and what it may be. */
export type RequestField = {
  /** The name in REST, which is the proto's. */
  readonly name: string;
  /** The name in the message object. */
  readonly local: string;
  readonly required: boolean;
  /** True where it may be left out beside a field that REST does not have. */
  readonly optionalBeyondRest?: boolean;
  /** True where a body may say null, which leaves the field unset. */
  readonly nullable: boolean;
} & (
  | { readonly kind: "int32" | "bool" }
  /** `moment`: a blank in place of the `+` of an offset counts as `+` (contract §2.11). */
  | { readonly kind: "string"; readonly instant: boolean }
  | { readonly kind: "enum"; readonly values: Readonly<Record<string, number>> }
);

/** The routing table. */
export const table: readonly Route[] = routes;
