// The type of the generated routing table, against which the compiler checks src/gen/rest.ts.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { IntegerBounds } from "./integer-bounds.ts";
import { routes } from "../gen/rest.ts";

/** One REST operation: the request that it serves, its rpc, and how to read its message and write its response. */
export interface Route {
  readonly method: string;
  readonly template: string;
  readonly rpc: DescMethodUnary;
  readonly credential: "key" | "none" | "session";
  readonly idempotencyKey: boolean;
  /** The path parameters, in the order of the template. */
  readonly path: readonly RequestField[];
  readonly query: readonly RequestField[];
  /** Undefined if the operation reads no body. */
  readonly body: RequestBody | undefined;
  /** The HTTP status of a success. */
  readonly status: number;
  /**
   * Returns the whole body of a success, `data` and its siblings, ready for JSON.stringify. `message` is of the type
   * `rpc.output`.
   */
  write(message: Message, documentProvider: string): object;
  /** The fields that Connect, gRPC and assistants have, but REST does not. */
  readonly beyond?: Beyond;
  /** Returns the `Location` of a success. `message` is of the type `rpc.output`. */
  location?(message: Message): string;
}

/** The fields of a request and its response that REST does not have. */
export interface Beyond {
  readonly fields: readonly RequestField[];
  /** The JSON Schemas of these fields, by name. */
  readonly parameters: Readonly<Record<string, object>>;
  /** The JSON Schemas of the properties that `write` adds to the body, by name. */
  readonly response: Readonly<Record<string, object>>;
  write(message: Message): object;
}

/** The properties of a request body. */
export interface RequestBody {
  /** True if a request without a body is rejected. */
  readonly required: boolean;
  readonly fields: readonly RequestField[];
  /**
   * The local name of the `google.protobuf.FieldMask` for the names of the properties sent. The body must then have at
   * least one property.
   */
  readonly mask?: string;
}

/** A scalar of a request: its name in REST, its place in the message, and its permitted values. */
export type RequestField = {
  /** The name in REST, which is that of the proto. */
  readonly name: string;
  /** The name in the message object. */
  readonly local: string;
  readonly required: boolean;
  /** True if it may be left out next to a field that REST does not have. */
  readonly optionalBeyondRest?: boolean;
  /** True if a body may contain null, which leaves the field unset. */
  readonly nullable: boolean;
} & (
  | { readonly kind: "bool" }
  | ({ readonly kind: "int32" } & IntegerBounds)
  /** `instant`: a blank instead of the `+` of an offset counts as `+` (contract §2.11). */
  | { readonly kind: "string"; readonly instant: boolean }
  | { readonly kind: "enum"; readonly values: Readonly<Record<string, number>> }
);

/** The routing table. */
export const table: readonly Route[] = routes;
