// The one chain that every request passes, whatever its wire; read downwards, it is the contract's status order (§2.2).
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Credential } from "../gen/records/v1/options_pb.ts";
import { isUnavailable } from "../db/mongo.ts";
import type { Violation } from "../errors.ts";
import { Failure, fail } from "../errors.ts";
import type { Answer, Dispatch, Inbound } from "../rpc/dispatch.ts";
import type { Authentication } from "./authenticate.ts";
import type { Call, Caller } from "./call.ts";
import { factsOf } from "./call.ts";
import { deadlineMs, within } from "./deadline.ts";
import type { Idempotency } from "./idempotency.ts";
import { keyViolations } from "./idempotency.ts";
import type { InternalAccess, Operator } from "./internal.ts";
import type { Scope, WriteScope } from "./scope.ts";
import { grantWrites, readScope } from "./scope.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface, requireWrites } from "./switches.ts";
import type { Throttle } from "./throttle.ts";
import { validate } from "./validate.ts";

/** What a service is granted: the right to one account's records, an operator's right to any, or nothing. */
export type Grant = Scope | WriteScope | Operator | undefined;

/** A service method behind the chain. */
export type Handler = (message: Message, grant: Grant) => Promise<Message>;

/** A listener's own part of the chain. */
export interface Door {
  /** 429. Charges the request and tells who sends it. */
  charge(inbound: Inbound, call: Call | undefined): Promise<Caller>;
  /** What is checked before the body is read, in this order. */
  readonly guards: readonly ((call: Call, caller: Caller) => void)[];
  /** What the service is granted, once the message is valid. */
  grant(call: Call, caller: Caller): Promise<Scope | Operator | undefined>;
  /** The last word, after the service: no answer, good or bad, leaves before it. */
  conclude(call: Call, caller: Caller): Promise<void>;
}

/** The chain behind a listener's door. */
export function createDispatch(door: Door, handlers: ReadonlyMap<DescMethodUnary, Handler>, idempotency: Idempotency): Dispatch {
  const known = new Map([...handlers].map(([rpc, handler]) => [rpc, { handler, facts: factsOf(rpc) }]));
  return {
    async throttle(inbound) {
      await door.charge(inbound, undefined);
    },
    async admit(rpc, inbound) {
      const { handler, facts } = known.get(rpc) ?? fail(Reason.UNKNOWN_PATH);
      const call: Call = { ...facts, inbound };
      const caller = await door.charge(inbound, call);
      for (const guard of door.guards) guard(call, caller);
      // A client that takes its time to send the body does so on its own account.
      const spentMs = performance.now() - inbound.arrivedAt;
      return {
        invoke(message, found = []) {
          const until = performance.now() + deadlineMs - spentMs;
          return within(deadlineMs - spentMs, run(message, found, until));
        },
      };

      async function run(message: Message, found: readonly Violation[], until: number): Promise<Answer> {
        try {
          const outcome = await answer(message, found, until);
          await door.conclude(call, caller);
          return outcome;
        } catch (error) {
          if (isUnavailable(error)) throw new Failure(Reason.UNAVAILABLE, { cause: error });
          await door.conclude(call, caller);
          throw error;
        }
      }

      async function answer(message: Message, found: readonly Violation[], until: number): Promise<Answer> {
        const key = call.rules.idempotencyKey ? inbound.header("idempotency-key") : undefined;
        validate(rpc.input, message, [...found, ...keyViolations(key)]); // 422
        return perform(handler, message, await door.grant(call, caller), key, until); // 404, 409
      }

      async function perform(serve: Handler, message: Message, grant: Grant, key: string | undefined, until: number): Promise<Answer> {
        if (grant === undefined || !("accountId" in grant)) return firstAnswer(await serve(message, grant));
        if (!call.writes) return firstAnswer(await serve(message, grant));
        if (key === undefined) return firstAnswer(await serve(message, grantWrites(grant)));
        return idempotency.run({ rpc, scope: grant, key, message, until }, (scope) => serve(message, scope));
      }
    },
  };
}

/** How long a request that needs no key waits to learn whether it bears one, and so which bucket it is charged to. */
const optionalKeyWaitMs = 500;

/** The public listener: throttle, interface switch, API key, access, write switch. */
export function publicDoor(throttle: Throttle, authentication: Authentication, switches: () => SwitchState): Door {
  const open = ({ rules }: Call): boolean => rules.credential === Credential.NONE;
  return {
    async charge(inbound, call) {
      const optional = call === undefined || open(call);
      const waitMs = optional ? optionalKeyWaitMs : deadlineMs;
      // Only a read can prove the key together with the data.
      const caller = await authentication.identify(inbound.header("authorization"), call?.writes === true, waitMs);
      await throttle(caller, inbound.address);
      return caller;
    },
    guards: [
      (call) => void (open(call) || requireInterface(switches())), // 503
      (call, caller) => void (open(call) || authentication.require(caller)), // 401
      (call, caller) => void (call.writes && caller.kind === "key" && caller.key.readOnly && fail(Reason.ACCESS_DENIED)), // 403
      (call) => void (call.writes && requireWrites(switches())), // 503
    ],
    async grant(call, caller) {
      if (open(call)) return undefined;
      const { key, unproven } = authentication.require(caller);
      return readScope(key.accountId, unproven);
    },
    async conclude(call, caller) {
      // Who needs no key is answered whatever became of the one that was sent.
      if (!open(call) && caller.kind === "key") await authentication.prove(caller);
    },
  };
}

/** The internal listener: a service token in place of the API key; no throttle and no interface switch. */
export function internalDoor(access: InternalAccess, switches: () => SwitchState): Door {
  const open = ({ rules }: Call): boolean => rules.credential === Credential.NONE;
  return {
    charge: () => Promise.resolve({ kind: "nobody", sent: false }),
    guards: [
      (call) => void (open(call) || access.requireToken(call.inbound.header("authorization"))), // 401
      (call) => void (call.writes && !call.administers && requireWrites(switches())), // 503
    ],
    async grant(call) {
      if (open(call)) return undefined;
      if (!call.onBehalf) return access.operator;
      return readScope(await access.accountOf(call.inbound.header("records-account-id")));
    },
    conclude: () => Promise.resolve(),
  };
}

function firstAnswer(message: Message): Answer {
  return { message, replayed: false, body: undefined };
}
