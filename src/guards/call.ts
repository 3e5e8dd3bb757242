// State of a request in the chain of guards: its rpc and its caller.
import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { getOption } from "@bufbuild/protobuf";
import type { Binary, UUID } from "mongodb";
import { uuid } from "../db/mongo.ts";
import type { MethodRules } from "../gen/records/v1/options_pb.ts";
import { method as methodOption } from "../gen/records/v1/options_pb.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { UnprovenCredential } from "../call/scope.ts";
import { uuidForm } from "../text/uuid.ts";

/** The facts about an rpc that the guards need. */
export interface RpcFacts {
  readonly rpc: DescMethod;
  readonly rules: MethodRules;
  /** Whether the rpc changes data: true unless it is marked `NO_SIDE_EFFECTS`. */
  readonly writes: boolean;
  /** Whether it is an operator's rpc, which is served even while writes of records are paused. */
  readonly isOperatorRpc: boolean;
  /** Whether it accepts a batch and reports violations for each item. */
  readonly itemwise: boolean;
  /** Whether it acts for one account. On the internal listener, the header `records-account-id` names the account. */
  readonly isForAccount: boolean;
  /** The response field that lists records or the results of a batch; undefined if there is none. */
  readonly list: string | undefined;
}

/** A request for an rpc. */
export interface Call extends RpcFacts {
  readonly inbound: Inbound;
}

/** The caller of a request, as the credential alone identifies it. */
export type Caller =
  | KeyCaller
  | { readonly kind: "user"; readonly user: SignedInUser }
  | { readonly kind: "token"; readonly token: TokenFacts }
  | { readonly kind: "nobody"; readonly sent: "nothing" | "no bearer token" | "an invalid key" }
  | { readonly kind: "unreadable"; readonly cause: unknown };

/** A caller with an API key. */
export interface KeyCaller {
  readonly kind: "key";
  readonly key: KeyFacts;
  /** Whether the account was suspended when the key was looked up for this request. */
  readonly suspended: boolean;
  /** The proof of the key. A look-up before the body does not count, because the key can end while the body arrives. */
  readonly unproven: UnprovenCredential;
}

/** A user as the identity provider describes them. */
export interface UserProfile {
  readonly name: string | undefined;
  readonly email: string | undefined;
  /** A name of the IANA time zone database, such as Europe/Paris. */
  readonly timeZone: string | undefined;
}

/** A user who is signed in to the dashboard, with their account, if any. */
export interface SignedInUser {
  /** Identifies the user and their account to the pages that show them. Not a secret. */
  readonly id: string;
  /** The user's email, or the subject if the identity provider gives no email. */
  readonly name: string;
  readonly account: { readonly id: UUID; readonly betaEnrolled: boolean; readonly suspended?: boolean } | undefined;
}

/** The holder of an access token: a user who may read through an assistant but never write. */
export interface TokenFacts {
  readonly issuer: string;
  readonly subject: string;
  /** The user's email, or the subject if the token has no email. */
  readonly name: string;
  /** What the token says of the user. */
  readonly profile?: UserProfile;
  readonly accountId: UUID | undefined;
  readonly suspended?: boolean;
}

/** The facts about an active API key. Except for the suspension, they never change. */
export interface KeyFacts {
  readonly hash: Binary;
  readonly accountId: UUID;
  readonly readOnly: boolean;
  /** The first 8 characters, for the log. */
  readonly prefix: string;
  /** Whether its account was suspended when the key was looked up. Must not be used once the facts are remembered. */
  readonly suspended?: true | undefined;
}

/** Records the account and the key prefix of a request for the log. */
export function observeCaller(
  inbound: Inbound,
  caller: Pick<KeyCaller, "kind" | "key"> | Exclude<Caller, KeyCaller>,
): void {
  if (caller.kind === "key") observe(inbound, { account: caller.key.accountId, keyPrefix: caller.key.prefix });
  const account =
    caller.kind === "user" ? caller.user.account?.id : caller.kind === "token" ? caller.token.accountId : undefined;
  if (account !== undefined) observe(inbound, { account });
}

/** Returns the facts of an rpc, read from its descriptor. */
export function factsOf(rpc: DescMethod): RpcFacts {
  const service = rpc.parent.typeName;
  return {
    rpc,
    rules: getOption(rpc, methodOption),
    writes: rpc.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
    isOperatorRpc: service.startsWith("records.admin."),
    itemwise: service.startsWith("records.ingest."),
    isForAccount: service.startsWith("records.v1."),
    list: listOf(rpc.output),
  };
}

/** Returns the local name of a message's first list of messages; undefined if there is none. */
export function listOf(message: DescMessage): string | undefined {
  return message.fields.find((field) => field.fieldKind === "list" && field.listKind === "message")?.localName;
}

/** Adds the length of a message's list to the row count of a request. */
export function countRows({ tally }: Pick<Inbound, "tally">, message: Message, list: string | undefined): void {
  if (tally === undefined || list === undefined) return;
  tally.rows =
    (tally.rows ?? 0) + ((message as unknown as Readonly<Record<string, readonly unknown[]>>)[list]?.length ?? 0);
}

/** Records the account that an operator's request or its response names for the log. */
export function observeAccount(inbound: Inbound, message: Message): void {
  const { accountId, account } = message as Message & {
    readonly accountId?: string;
    readonly account?: { readonly id: string };
  };
  const id = accountId ?? account?.id;
  if (id !== undefined && uuidForm.test(id)) observe(inbound, { account: uuid(id) });
}
