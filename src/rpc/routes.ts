// Descriptor → implementation: how a service is written, and how it is put behind the chain.
import type { DescMethod, DescMethodUnary, DescService, Message, MessageShape } from "@bufbuild/protobuf";
import type { Grant, Handler } from "../guards/chain.ts";
import type { Operator } from "../guards/internal.ts";
import type { Owner, Scope, WriteScope } from "../call/scope.ts";

/**
 * A service of one account's records: one function for every rpc of the descriptor. Those in `Writes` are granted the
 * right to write, the others the right to read.
 */
export type AccountService<Service extends DescService, Writes extends keyof Service["method"] = never> = {
  [Rpc in keyof Service["method"]]: (
    request: MessageShape<Service["method"][Rpc]["input"]>,
    scope: Rpc extends Writes ? WriteScope : Scope,
  ) => Promise<MessageShape<Service["method"][Rpc]["output"]>>;
};

/** A service of an account's owner, who is signed in to the dashboard. */
export type OwnerService<Service extends DescService> = {
  [Rpc in keyof Service["method"]]: (
    request: MessageShape<Service["method"][Rpc]["input"]>,
    owner: Owner,
  ) => Promise<MessageShape<Service["method"][Rpc]["output"]>>;
};

/** A service of the operator's, on the internal listener alone: its unary rpcs. */
export type OperatorService<Service extends DescService> = {
  [Rpc in keyof Service["method"] as Service["method"][Rpc] extends { methodKind: "unary" } ? Rpc : never]: (
    request: MessageShape<Service["method"][Rpc]["input"]>,
    operator: Operator,
  ) => Promise<MessageShape<Service["method"][Rpc]["output"]>>;
};

/** The fields of a message that are in `Rest`; of each message where `Rest` is one of several. */
type FieldsIn<Rest> = Rest extends unknown ? Exclude<keyof Rest, "$typeName" | "$unknown"> : never;

/**
 * Does not compile where a method has not taken every field out of its request: `rest` is what it has left. So a new
 * field of a request is not forgotten.
 */
export function requireAllRead<Rest extends object>(
  _rest: Rest & ([FieldsIn<Rest>] extends [never] ? unknown : { readonly unread: FieldsIn<Rest> }),
): void {}

/** Puts the unary methods of a service into the table of handlers. */
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
