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
import type { Call, Caller } from "./call.ts";
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

/** A service method behind the chain. */
export type Handler = (message: Message, grant: Grant) => Promise<Message>;

/** A check that does not need the body. Throws to reject the request. */
export type Guard = (call: Call, caller: Caller) => void;

/** Runs the guards in order. Fails with the failure of the first one that rejects the request. */
export function runGuards(guards: readonly Guard[], call: Call, caller: Caller): void {
  for (const guard of guards) guard(call, caller);
}

/** Returns the milliseconds until the deadline of a request that has just arrived, with its body or before it. */
export function leftOf({ arrivedAt }: Pick<Inbound, "arrivedAt">): number {
  return deadlineMs - (performance.now() - arrivedAt);
}

/**
 * Identifies a caller. If the switches are too old then, waits for fresh ones and identifies the caller again: a
 * look-up can have failed for the same reason, and whether one is necessary depends on the switches. `ready` returns
 * what to wait for, if anything, and `waits` whether a caller is worth it.
 */
export async function identifyOnceFresh<T>(
  inbound: Inbound,
  identify: (attempt: Attempt) => Promise<T>,
  ready: () => Promise<void> | undefined,
  waits: (found: T) => boolean,
): Promise<T> {
  let unreadable: { readonly fresh: Promise<void> | undefined } | undefined;
  function isRepeated(): boolean {
    unreadable = { fresh: ready() };
    return unreadable.fresh !== undefined;
  }
  const found = await identify({ throttled: false, isRepeated });
  // Called only once: a request with an unreadable credential that took its token is rejected.
  const fresh = unreadable === undefined && waits(found) ? ready() : unreadable?.fresh;
  if (fresh === undefined) return found;
  await withDeadline(deadlineIn(leftOf(inbound), inbound.limits, inbound.tally), fresh);
  return identify({ throttled: unreadable === undefined, isRepeated: () => false });
}

/** Waits until the guards can check the call, or until waiting longer does not help. Fails at the deadline. */
export async function waitUntilReady(
  { ready }: Pick<AccessPolicy, "ready">,
  call: Call,
  deadline: Deadline,
): Promise<void> {
  const pending = ready(call);
  if (pending !== undefined) await withDeadline(deadline, pending);
}

/** The part of the chain that differs between listeners and surfaces. */
export interface AccessPolicy {
  /** Throttles the request and identifies the caller. Fails with 429, or with 503 under overload. */
  identify(inbound: Inbound, call: Call | undefined, attempt?: Attempt): Promise<Caller>;
  /** Returns the guards to run in this order before the body is read, and again afterwards. */
  guards(call: Call): readonly Guard[];
  /**
   * Resolves once the guards can check the call by current switches, or when waiting longer does not help. Returns
   * undefined if they can now.
   */
  ready(call: Call): Promise<void> | undefined;
  /**
   * Identifies the caller of a write again, because much may have changed while the body arrived. Returns the same
   * caller if the write itself proves the credential.
   */
  renew(call: Call, caller: Caller): Promise<Caller>;
  /** Returns the right of the service, once the message is valid. */
  grant(call: Call, caller: Caller, deadline: () => Deadline): Promise<Scope | Owner | Operator | undefined>;
  /**
   * Proves the credential after the service. Every response waits for this, except failures because of time or the
   * database.
   */
  finalize(call: Call, caller: Caller): Promise<void>;
  /** Called before the response to a request that was identified and then rejected. Never rejects. */
  rejected(call: Call, caller: Caller, failure: Failure): Promise<void>;
}

/** Creates the chain behind an access policy. Without `capacity`, as for operators, concurrent work is not limited. */
export function createDispatch(
  accessPolicy: AccessPolicy,
  handlers: ReadonlyMap<DescMethodUnary, Handler>,
  idempotency: Idempotency,
  capacity: Capacity = unlimited,
): Dispatch {
  const known = new Map([...handlers].map(([rpc, handler]) => [rpc, { handler, facts: factsOf(rpc) }]));
  return {
    async throttle(inbound) {
      await accessPolicy.identify(inbound, undefined); // 429
    },
    async admit(rpc, inbound) {
      const { handler, facts } = known.get(rpc) ?? fail(Reason.UNKNOWN_PATH);
      const call: Call = { ...facts, inbound };
      const caller = await identifyOnceFresh(
        inbound,
        (attempt) => accessPolicy.identify(inbound, call, attempt), // 429
        () => accessPolicy.ready(call),
        // A caller without a credential gets 401 anyway.
        ({ kind }) => kind !== "nobody",
      );
      try {
        runGuards(accessPolicy.guards(call), call, caller);
      } catch (error) {
        throw await reported(error, accessPolicy, call, caller);
      }
      // Health is 200 or 429, however busy the instance is.
      const bounded = facts.rules.credential !== Credential.NONE;
      // Changes of keys are exempt. Their responses are small, and a user must always be able to revoke a leaked key.
      const isOnKeys = facts.rules.credential === Credential.SESSION;
      if (call.writes && !isOnKeys) requireBytesLeft(inbound.tally); // 503
      // The time that the client takes to send the body does not count against the deadline.
      const left = leftOf(inbound);
      const admission: Admission = { rpc, handler, accessPolicy, idempotency, call, caller };
      return {
        invoke: (message, found = []) => limited((deadline) => serve(message, found, admission, deadline)),
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
        return bounded ? inSlot(capacity, admission, deadline, run) : capacity.count(run);
      }
    },
  };
}

/** A call that has passed its guards. */
interface Admission {
  readonly rpc: DescMethodUnary;
  readonly handler: Handler;
  readonly accessPolicy: AccessPolicy;
  readonly idempotency: Idempotency;
  readonly call: Call;
  readonly caller: Caller;
}

/**
 * Runs the work in a slot. If the switches are too old by then, leaves the slot to others, waits, and takes one again.
 */
async function inSlot<T>(
  capacity: Capacity,
  { accessPolicy, call }: Admission,
  deadline: Deadline,
  work: () => Promise<T>,
): Promise<T> {
  const outcome = await capacity.run("verified", deadline, async () => {
    const pending = accessPolicy.ready(call);
    return pending === undefined ? { done: await work() } : { pending };
  });
  if (outcome.pending === undefined) return outcome.done;
  await withDeadline(deadline, outcome.pending);
  return capacity.run("verified", deadline, work);
}

async function finalized<T>(work: Promise<T>, { accessPolicy, call, caller }: Admission): Promise<T> {
  try {
    const outcome = await work;
    await accessPolicy.finalize(call, caller);
    return outcome;
  } catch (error) {
    const failure = mongoFailureOf(error);
    if (isTimeoutOrUnavailable(failure)) throw failure;
    await accessPolicy.finalize(call, caller);
    throw await reported(failure, accessPolicy, call, caller);
  }
}

async function reported(error: unknown, accessPolicy: AccessPolicy, call: Call, caller: Caller): Promise<Failure> {
  const failure = failureOf(error);
  await accessPolicy.rejected(call, caller, failure);
  return failure;
}

/** Runs the guards again, because their results may have changed while the body arrived. Returns the caller. */
async function runGuardsAgain({ accessPolicy, call, caller }: Admission): Promise<Caller> {
  const renewed = await accessPolicy.renew(call, caller);
  runGuards(accessPolicy.guards(call), call, renewed);
  return renewed;
}

async function serve(
  message: Message,
  found: readonly Violation[],
  admission: Admission,
  deadline: Deadline,
): Promise<RpcResponse> {
  const { rpc, accessPolicy, call } = admission;
  const { inbound } = call;
  const key = idempotencyKey(call);
  const caller = await runGuardsAgain(admission);
  (call.itemwise ? validateBatch : validate)(rpc.input, message, [...found, ...keyViolations(key)]); // 422
  const namesAccount = call.isOperatorRpc || call.itemwise;
  if (namesAccount) observeAccount(inbound, message);
  const response = await perform(message, await accessPolicy.grant(call, caller, () => deadline), key, admission); // 404, 409
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
  admission: Admission,
): Promise<RpcResponse> {
  const { rpc, handler, idempotency, accessPolicy, call, caller } = admission;
  if (grant?.kind !== "records" || !call.writes) return firstResponse(await handler(message, grant));
  const write = (claim?: Claim): Promise<Message> =>
    handler(
      message,
      grantWrites(grant, claim, () => runGuards(accessPolicy.guards(call), call, caller)),
    );
  if (key === undefined) return firstResponse(await write());
  const response = await idempotency.run({ rpc, scope: grant, key, message }, write);
  if (response.replayed) observe(call.inbound, { replayed: true });
  return response;
}

function firstResponse(message: Message): RpcResponse {
  return { message, replayed: false, body: undefined };
}
