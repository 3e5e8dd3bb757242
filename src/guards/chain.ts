// The chain that every request passes on any wire: the guards of its access policy, the body, the service.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Credential } from "../gen/records/v1/options_pb.ts";
import { mongoFailureOf } from "../db/mongo.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs, isTimeoutOrUnavailable, withDeadline } from "../call/deadline.ts";
import type { Failure, Violation } from "../call/errors.ts";
import { fail, failureOf, rejectInput } from "../call/errors.ts";
import { requireBytesLeft } from "../large/sending.ts";
import type { Dispatch, Inbound, RpcResponse } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { Call, Caller, RpcFacts } from "./call.ts";
import { countRows, factsOf, observeAccount } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import { unlimited } from "./capacity.ts";
import type { Attempt } from "./credentials.ts";
import type { Idempotency } from "./idempotency.ts";
import { keyViolations } from "./idempotency.ts";
import type { Operator } from "./internal.ts";
import type { Claim, Owner, Scope, WriteScope } from "../call/scope.ts";
import { grantWrites } from "../call/scope.ts";
import { validate, validateBatch, violationsOf } from "./validate.ts";

/**
 * The right granted to a service: to one account's records or credentials, an operator's right to any account, or none.
 */
export type Grant = Scope | WriteScope | Owner | Operator | undefined;

/** The right that an access policy grants. */
type Right = Scope | Owner | Operator | undefined;

/** A service method behind the chain. */
export type Handler = (message: Message, grant: Grant) => Promise<Message>;

/** The checks of an rpc that do not need the body, in the contract's order. Throws to reject the request. */
export type Guard = (call: Call, caller: Caller) => void;

/** Returns the milliseconds until the deadline of a request that has just arrived, with its body or before it. */
export function leftOf({ arrivedAt }: Pick<Inbound, "arrivedAt">): number {
  return deadlineMs - (performance.now() - arrivedAt);
}

/**
 * Identifies a caller. If the switches are too old then, waits for fresh ones and identifies the caller again: a
 * look-up can have failed for the same reason, and whether one is necessary depends on the switches. `ready` returns
 * what to wait for, if anything. A caller of the kind `rejected` does not wait.
 */
export async function identifyOnceFresh<T extends { readonly kind: string }>(
  inbound: Inbound,
  identify: (attempt: Attempt) => Promise<T>,
  ready: () => Promise<void> | undefined,
  rejected: T["kind"],
): Promise<T> {
  let unreadable: { readonly fresh: Promise<void> | undefined } | undefined;
  function isRepeated(): boolean {
    unreadable = { fresh: ready() };
    return unreadable.fresh !== undefined;
  }
  const found = await identify({ throttled: false, isRepeated });
  // Called only once: a request with an unreadable credential that took its token is rejected.
  const fresh = unreadable === undefined && found.kind !== rejected ? ready() : unreadable?.fresh;
  if (fresh === undefined) return found;
  await withDeadline(deadlineIn(leftOf(inbound), inbound.limits, inbound.tally), fresh);
  return identify({ throttled: unreadable === undefined, isRepeated: () => false });
}

/** Waits for what the guards need, if anything. Fails at the deadline. */
export async function waitUntilReady(pending: Promise<void> | undefined, deadline: Deadline): Promise<void> {
  if (pending !== undefined) await withDeadline(deadline, pending);
}

/** The part of the chain that differs between listeners and surfaces: the access policy of each rpc. */
export interface AccessPolicies {
  /** Returns the access policy of an rpc; of requests for unknown paths without one. Called once for each rpc. */
  policyOf(facts: RpcFacts | undefined): AccessPolicy;
}

/** What the chain does for requests for one rpc. */
export interface AccessPolicy {
  /** Throttles the request and identifies the caller. Fails with 429, or with 503 under overload. */
  identify(inbound: Inbound, attempt?: Attempt): Promise<Caller>;
  /** Runs before the body is read, again afterwards, and again before each write. */
  readonly check: Guard;
  /**
   * Resolves once the guards can check a request by current switches, or when waiting longer does not help. Returns
   * undefined if they can now.
   */
  ready(inbound: Inbound): Promise<void> | undefined;
  /**
   * Identifies the caller of a write again, because much may have changed while the body arrived. Undefined if the
   * service itself proves the credential.
   */
  readonly renew: ((inbound: Inbound) => Promise<Caller>) | undefined;
  /** Returns the right of the service, once the message is valid. */
  grant(call: Call, caller: Caller, deadline: () => Deadline): Right | Promise<Right>;
  /**
   * Proves the credential after the service. Every response waits for this, except failures because of time or the
   * database. Undefined if there is nothing to prove.
   */
  finalize(inbound: Inbound, caller: Caller): Promise<void> | undefined;
  /** Called before the response to a request that was identified and then rejected. Never rejects. */
  readonly rejected: ((call: Call, caller: Caller, failure: Failure) => Promise<void>) | undefined;
}

/** What the chain knows of an rpc from the start. */
interface Operation {
  readonly rpc: DescMethodUnary;
  readonly handler: Handler;
  readonly facts: RpcFacts;
  readonly policy: AccessPolicy;
  readonly idempotency: Idempotency;
  /** Whether it takes one of the slots. Health is 200 or 429, however busy the instance is. */
  readonly isBounded: boolean;
  /**
   * Whether its response needs bytes to be left. Changes of keys are exempt: their responses are small, and a user must
   * always be able to revoke a leaked key.
   */
  readonly needsBytes: boolean;
  /** Whether its request or its response names the account. */
  readonly namesAccount: boolean;
}

/** Creates the chain behind access policies. Without `capacity`, as for operators, concurrent work is not limited. */
export function createDispatch(
  policies: AccessPolicies,
  handlers: ReadonlyMap<DescMethodUnary, Handler>,
  idempotency: Idempotency,
  capacity: Capacity = unlimited,
): Dispatch {
  const operations = new Map(
    [...handlers].map(([rpc, handler]): [DescMethodUnary, Operation] => {
      const facts = factsOf(rpc);
      const { credential } = facts.rules;
      const isBounded = credential !== Credential.NONE;
      const needsBytes = facts.writes && credential !== Credential.SESSION;
      const namesAccount = facts.isOperatorRpc || facts.itemwise;
      const policy = policies.policyOf(facts);
      return [rpc, { rpc, handler, facts, policy, idempotency, isBounded, needsBytes, namesAccount }];
    }),
  );
  const unknownPaths = policies.policyOf(undefined);

  return {
    async throttle(inbound) {
      await unknownPaths.identify(inbound); // 429
    },
    async admit(rpc, inbound) {
      const operation = operations.get(rpc) ?? fail(Reason.UNKNOWN_PATH);
      const { facts, policy } = operation;
      const call: Call = { ...facts, inbound };
      const caller = await identifyOnceFresh(
        inbound,
        (attempt) => policy.identify(inbound, attempt), // 429
        () => policy.ready(inbound),
        // A caller without a credential gets 401 anyway.
        "nobody",
      );
      try {
        policy.check(call, caller);
      } catch (error) {
        throw await reported(error, policy, call, caller);
      }
      if (operation.needsBytes) requireBytesLeft(inbound.tally); // 503
      // The time that the client takes to send the body does not count against the deadline.
      const left = leftOf(inbound);
      const admission: Admission = { operation, call, caller };
      return {
        invoke: (message, found = noViolations) => limited((deadline) => serve(message, found, admission, deadline)),
        reject: (found) => limited(() => runGuardsAgain(admission).then(() => rejectInput(found))),
        prove: () => limited(() => runGuardsAgain(admission).then(() => undefined)),
        headViolations: (message, fields = []) => [
          ...(message === undefined
            ? []
            : violationsOf(rpc.input, message).filter(({ field }) => fields.includes(field))),
          ...keyViolations(idempotencyKey(call)),
        ],
      };

      function limited<T>(work: (deadline: Deadline) => Promise<T>): Promise<T> {
        const deadline = deadlineIn(left, inbound.limits, inbound.tally);
        const run = (): Promise<T> => withDeadline(deadline, finalized(work(deadline), admission));
        return operation.isBounded ? inSlot(capacity, admission, deadline, run) : capacity.count(run);
      }
    },
  };
}

const noViolations: readonly Violation[] = [];

/** A call that has passed its guards. */
interface Admission {
  readonly operation: Operation;
  readonly call: Call;
  readonly caller: Caller;
}

/**
 * Runs the work in a slot. If the switches are too old by then, leaves the slot to others, waits, and takes one again.
 */
async function inSlot<T>(
  capacity: Capacity,
  { operation: { policy }, call: { inbound } }: Admission,
  deadline: Deadline,
  work: () => Promise<T>,
): Promise<T> {
  const outcome = await capacity.run("verified", deadline, async () => {
    const pending = policy.ready(inbound);
    return pending === undefined ? { done: await work() } : { pending };
  });
  if (outcome.pending === undefined) return outcome.done;
  await withDeadline(deadline, outcome.pending);
  return capacity.run("verified", deadline, work);
}

async function finalized<T>(work: Promise<T>, { operation: { policy }, call, caller }: Admission): Promise<T> {
  try {
    const outcome = await work;
    await policy.finalize(call.inbound, caller);
    return outcome;
  } catch (error) {
    const failure = mongoFailureOf(error);
    if (isTimeoutOrUnavailable(failure)) throw failure;
    await policy.finalize(call.inbound, caller);
    throw await reported(failure, policy, call, caller);
  }
}

async function reported(error: unknown, policy: AccessPolicy, call: Call, caller: Caller): Promise<Failure> {
  const failure = failureOf(error);
  await policy.rejected?.(call, caller, failure);
  return failure;
}

/** Runs the guards again, because their results may have changed while the body arrived. Returns the caller. */
async function runGuardsAgain({ operation: { policy }, call, caller }: Admission): Promise<Caller> {
  const renewed = (await policy.renew?.(call.inbound)) ?? caller;
  policy.check(call, renewed);
  return renewed;
}

async function serve(
  message: Message,
  found: readonly Violation[],
  admission: Admission,
  deadline: Deadline,
): Promise<RpcResponse> {
  const { operation, call } = admission;
  const { rpc, policy, namesAccount } = operation;
  const { inbound } = call;
  const key = idempotencyKey(call);
  const caller = await runGuardsAgain(admission);
  const violations = key === undefined ? found : [...found, ...keyViolations(key)];
  (call.itemwise ? validateBatch : validate)(rpc.input, message, violations); // 422
  if (namesAccount) observeAccount(inbound, message);
  const grant = await policy.grant(call, caller, () => deadline);
  const response = await perform(message, grant, key, admission); // 404, 409
  if (namesAccount) observeAccount(inbound, response.message);
  countRows(inbound, response.message, call.list);
  return response;
}

function idempotencyKey({ rules, inbound }: Call): string | undefined {
  return rules.idempotencyKey ? inbound.header("idempotency-key") : undefined;
}

async function perform(
  message: Message,
  grant: Grant,
  key: string | undefined,
  { operation, call, caller }: Admission,
): Promise<RpcResponse> {
  const { rpc, handler, idempotency, policy } = operation;
  if (grant?.kind !== "records" || !call.writes) return firstResponse(await handler(message, grant));
  const write = (claim?: Claim): Promise<Message> =>
    handler(
      message,
      grantWrites(grant, claim, () => policy.check(call, caller)),
    );
  if (key === undefined) return firstResponse(await write());
  const response = await idempotency.run({ rpc, scope: grant, key, message }, write);
  if (response.replayed) observe(call.inbound, { replayed: true });
  return response;
}

function firstResponse(message: Message): RpcResponse {
  return { message, replayed: false, body: undefined };
}
