// Types of the services' implementations, and their registration behind the chain of guards.
import type { DescMethod, DescMethodUnary, DescService, Message, MessageShape } from "@bufbuild/protobuf";
import type { Grant, Handler } from "../guards/chain.ts";
import type { Operator } from "../guards/internal.ts";
import type { Owner, Scope, WriteScope } from "../call/scope.ts";

/**
 * A service of one account's records, with a function for every rpc of the descriptor. Rpcs in `Writes` get the right
 * to write, the others the right to read.
 */
export type AccountService<Service extends DescService, Writes extends keyof Service["method"] = never> = {
  [Rpc in keyof Service["method"]]: (
    request: MessageShape<Service["method"][Rpc]["input"]>,
    scope: Rpc extends Writes ? WriteScope : Scope,
  ) => Promise<MessageShape<Service["method"][Rpc]["output"]>>;
};

/** A service for an account's owner, who is signed in to the dashboard. */
export type OwnerService<Service extends DescService> = {
  [Rpc in keyof Service["method"]]: (
    request: MessageShape<Service["method"][Rpc]["input"]>,
    owner: Owner,
  ) => Promise<MessageShape<Service["method"][Rpc]["output"]>>;
};

/** A service for the operator, on the internal listener only: its unary rpcs. */
export type OperatorService<Service extends DescService> = {
  [Rpc in keyof Service["method"] as Service["method"][Rpc] extends { methodKind: "unary" } ? Rpc : never]: (
    request: MessageShape<Service["method"][Rpc]["input"]>,
    operator: Operator,
  ) => Promise<MessageShape<Service["method"][Rpc]["output"]>>;
};

/** The names of the fields in `Rest`. If `Rest` is a union of messages, those of all of them. */
type FieldsIn<Rest> = Rest extends unknown ? Exclude<keyof Rest, "$typeName" | "$unknown"> : never;

/**
 * Does not compile unless a method takes every field out of its request. `rest` contains the remaining fields, so that
 * a new field of a request cannot be forgotten.
 */
export function requireAllRead<Rest extends object>(
  _rest: Rest & ([FieldsIn<Rest>] extends [never] ? unknown : { readonly unread: FieldsIn<Rest> }),
): void {}

/** Adds the unary methods of a service to the table of handlers. Throws if one has no implementation. */
export function route<Service extends DescService>(
  handlers: Map<DescMethodUnary, Handler>,
  service: Service,
  implementation:
    | AccountService<Service, keyof Service["method"]>
    | AccountService<Service>
    | OwnerService<Service>
    | OperatorService<Service>,
): void {
  const functions = implementation as unknown as Record<string, (message: Message, grant: Grant) => Promise<Message>>;
  for (const rpc of service.methods.filter(isUnary)) {
    const handler = functions[rpc.localName];
    if (handler === undefined) throw new Error(`${rpc.parent.typeName}/${rpc.name} has no implementation`);
    handlers.set(rpc, handler);
  }
}

function isUnary(rpc: DescMethod): rpc is DescMethodUnary {
  return rpc.methodKind === "unary";
}
