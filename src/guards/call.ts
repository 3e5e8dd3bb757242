// State of a request in the chain of guards.
import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { getOption } from "@bufbuild/protobuf";
import type { Binary, UUID } from "mongodb";
import { uuid } from "../db/mongo.ts";
import type { MethodRules } from "../gen/records/v1/options_pb.ts";
import { method as methodOption } from "../gen/records/v1/options_pb.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { Proof, Unproven } from "../call/scope.ts";
import { uuidForm } from "../uuid.ts";

/** What the guards need to know of an rpc. */
export interface RpcFacts {
  readonly rpc: DescMethod;
  readonly rules: MethodRules;
  /** Whether the rpc changes something: every one that is not marked `NO_SIDE_EFFECTS`. */
  readonly writes: boolean;
  /** Whether it is one of the operator's: those continue while the writes of records are paused. */
  readonly administers: boolean;
  /** Whether it takes a batch, and reports for each item what is wrong with it. */
  readonly itemwise: boolean;
  /** Whether it is made on behalf of one account, which `records-account-id` names on the internal listener. */
  readonly onBehalf: boolean;
  /** The field of the response that lists records, or the results of a batch; undefined where there is none. */
  readonly list: string | undefined;
}

/** A request for an rpc. */
export interface Call extends RpcFacts {
  readonly inbound: Inbound;
}

/** Who sends a request, as far as the credential alone shows. */
export type Caller =
  | KeyCaller
  | { readonly kind: "user"; readonly user: SignedIn }
  | { readonly kind: "token"; readonly token: TokenFacts }
  | { readonly kind: "nobody"; readonly sent: boolean }
  | { readonly kind: "unreadable"; readonly cause: unknown };

/** Who sends a request with an API key. */
export interface KeyCaller {
  readonly kind: "key";
  readonly key: KeyFacts;
  /** Whether the account was suspended when the key was looked up for this request. */
  readonly suspended: boolean;
  /** A look-up before the body proves nothing of what is done after it. */
  readonly unproven: Unproven;
}

/** A user who is signed in to the dashboard, and the account of theirs, if there is one. */
export interface SignedIn {
  /** Names the user and their account to the pages that show them. It is no secret. */
  readonly id: string;
  /** The user's email, or the subject where the identity provider gives no email. */
  readonly name: string;
  readonly account: { readonly id: UUID; readonly betaEnrolled: boolean; readonly suspended?: boolean } | undefined;
}

/** The holder of an access token: a user, who may read through an assistant and never write. */
export interface TokenFacts {
  readonly issuer: string;
  readonly subject: string;
  /** The user's email, or the subject where the token has no email. */
  readonly name: string;
  readonly accountId: UUID | undefined;
  readonly suspended?: boolean;
  /** The time of the sign-in at the provider, in whole seconds since 1970, where it is known. */
  readonly authenticatedAt: number | undefined;
  /** The provider's session, where it names it. */
  readonly sid: string | undefined;
  /** How a read proves that the sign-in has not ended and still has the account; undefined where there is none. */
  readonly proof: Proof | undefined;
}

/** What never changes about an API key, as long as it is active; but for the suspension. */
export interface KeyFacts {
  readonly hash: Binary;
  readonly keyId: UUID;
  readonly accountId: UUID;
  readonly readOnly: boolean;
  /** The first 8 characters, for the log. */
  readonly prefix: string;
  /** Whether its account was suspended when the key was looked up: of no use once it is remembered. */
  readonly suspended?: true | undefined;
}

/** Reports to the log on whose behalf a request is made, and with which key. */
export function observeCaller(
  inbound: Inbound,
  caller: Pick<KeyCaller, "kind" | "key"> | Exclude<Caller, KeyCaller>,
): void {
  if (caller.kind === "key") observe(inbound, { account: caller.key.accountId, keyPrefix: caller.key.prefix });
  const account =
    caller.kind === "user" ? caller.user.account?.id : caller.kind === "token" ? caller.token.accountId : undefined;
  if (account !== undefined) observe(inbound, { account });
}

/** Reads an rpc's descriptor: once for each, not for every request. */
export function factsOf(rpc: DescMethod): RpcFacts {
  const service = rpc.parent.typeName;
  return {
    rpc,
    rules: getOption(rpc, methodOption),
    writes: rpc.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
    administers: service.startsWith("records.admin."),
    itemwise: service.startsWith("records.ingest."),
    onBehalf: service.startsWith("records.v1."),
    list: listOf(rpc.output),
  };
}

/** The name of a message's first list of messages. */
export function listOf(message: DescMessage): string | undefined {
  return message.fields.find((field) => field.fieldKind === "list" && field.listKind === "message")?.localName;
}

/** Adds the length of a message's list to the rows of a request. */
export function countRows({ tally }: Pick<Inbound, "tally">, message: Message, list: string | undefined): void {
  if (tally === undefined || list === undefined) return;
  tally.rows =
    (tally.rows ?? 0) + ((message as unknown as Readonly<Record<string, readonly unknown[]>>)[list]?.length ?? 0);
}

/** Reports to the log which account an operator's request or its response names. */
export function observeAccount(inbound: Inbound, message: Message): void {
  const { accountId, account } = message as Message & {
    readonly accountId?: string;
    readonly account?: { readonly id: string };
  };
  const id = accountId ?? account?.id;
  if (id !== undefined && uuidForm.test(id)) observe(inbound, { account: uuid(id) });
}
