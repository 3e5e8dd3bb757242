// Access policies of the two listeners: the guards for each credential, in the contract's status order (§2.2, §7.5).
import { Credential } from "../gen/records/v1/options_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { deadlineIn } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Authentication } from "./authenticate.ts";
import type { Call, KeyFacts } from "./call.ts";
import type { AccessPolicy, Guard } from "./chain.ts";
import { leftOf, runGuards, waitUntilReady } from "./chain.ts";
import type { InternalAccess } from "./internal.ts";
import { readScope } from "../call/scope.ts";
import type { SessionGuard } from "./session.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface, requireWrites } from "./switches.ts";

/** The dependencies of the public access policy. */
export interface PublicAccessDependencies {
  readonly authentication: Authentication;
  readonly sessions: SessionGuard;
  readonly switches: () => SwitchState;
  /** Fails with UNAVAILABLE if the switches may have changed since they were read. */
  readonly requireFreshSwitches: () => void;
  /** Resolves once they are fresh, or when waiting longer does not help; undefined if they are fresh now. */
  readonly freshSwitches: () => Promise<void> | undefined;
  /** Called with a request's key once it is proven, before the response, even if the request fails. */
  readonly onUse: (key: KeyFacts) => void;
  /** Called for each rejected request for an operation on credentials, even if nobody is signed in. Never rejects. */
  readonly onRejection: AccessPolicy["rejected"];
}

/** The access policy for one kind of credential: an API key, a session, or none. */
interface CallPolicy extends Omit<AccessPolicy, "guards"> {
  readonly guards: readonly Guard[];
}

/** The time limit for looking up the key of a request that needs none. The key only selects the request's bucket. */
const optionalKeyWaitMs = 500;
const nothing = (): Promise<void> => Promise.resolve();
const atOnce = (): undefined => undefined;
const sameCaller: AccessPolicy["renew"] = (_call, caller) => Promise.resolve(caller);

/** Returns the access policy of the public listener. */
export function publicAccessPolicy(dependencies: PublicAccessDependencies): AccessPolicy {
  const [open, byKey, bySession] = [openPolicy(dependencies), keyPolicy(dependencies), sessionPolicy(dependencies)];
  const policy = (call: Call | undefined): CallPolicy => {
    if (call === undefined || call.rules.credential === Credential.NONE) return open;
    return call.rules.credential === Credential.SESSION ? bySession : byKey;
  };

  return {
    identify: (inbound, call, attempt) => policy(call).identify(inbound, call, attempt), // 429
    guards: (call) => policy(call).guards,
    ready: (call) => policy(call).ready(call),
    grant: (call, caller, deadline) => policy(call).grant(call, caller, deadline),
    finalize: (call, caller) => policy(call).finalize(call, caller),
    renew: (call, caller) => policy(call).renew(call, caller),
    rejected: (call, caller, failure) => policy(call).rejected(call, caller, failure),
  };
}

function openPolicy({ authentication }: PublicAccessDependencies): CallPolicy {
  return {
    // Only health is served despite overload (200 or 429). A request that is not an rpc can be rejected (503).
    identify: (inbound, call) =>
      authentication.identify(inbound, {
        fresh: () => false,
        deadline: deadlineIn(optionalKeyWaitMs, {}, inbound.tally),
        optional: call !== undefined,
      }),
    guards: [],
    ready: atOnce,
    grant: () => Promise.resolve(undefined),
    // An rpc that needs no key is served even if the key that was sent has ended meanwhile.
    finalize: nothing,
    renew: sameCaller,
    rejected: nothing,
  };
}

function keyPolicy(dependencies: PublicAccessDependencies): CallPolicy {
  const { authentication, switches, requireFreshSwitches, freshSwitches, onUse } = dependencies;
  return {
    // Reads and writes prove the key themselves. It is looked up here if the guards reject the request before that.
    identify: (inbound, call, attempt) =>
      authentication.identify(inbound, {
        fresh: (key) => call?.writes === true && (key.readOnly || !switches().writes),
        deadline: deadlineIn(leftOf(inbound), {}, inbound.tally),
        optional: false,
        attempt,
      }),
    guards: [
      () => requireInterface(switches()), // 503
      (_call, caller) => void authentication.require(caller), // 401, 403
      (call, caller) =>
        void (call.writes && caller.kind === "key" && caller.key.readOnly && fail(Reason.ACCESS_DENIED)), // 403
      (call) => void (call.writes && requireWrites(switches())), // 503
      requireFreshSwitches, // 503
    ],
    ready: freshSwitches,
    async grant(_call, caller, deadline) {
      const { key, unproven } = authentication.require(caller);
      return readScope(key.accountId, deadline(), unproven);
    },
    async finalize(_call, caller) {
      if (caller.kind !== "key") return;
      if (!caller.unproven.proven) {
        requireInterface(switches()); // 503, which comes before 401
        await caller.unproven.prove();
      }
      onUse(caller.key);
    },
    // The write itself proves the key.
    renew: sameCaller,
    rejected: nothing,
  };
}

function sessionPolicy({ sessions, onRejection }: PublicAccessDependencies): CallPolicy {
  return {
    identify: (inbound) => sessions.identify(inbound),
    // The switches do not apply: users must always be able to revoke a key.
    guards: [
      (call, caller) => sessions.requireShownUser(call, caller), // 401
      (_call, caller) => void sessions.requireAccount(caller), // 401, 403
      (call) => sessions.requireOrigin(call), // 403
      (call, caller) => sessions.requireEnrolment(call, caller), // 403
    ],
    ready: atOnce,
    async grant({ inbound }, caller, deadline) {
      const accountId = sessions.requireAccount(caller).id;
      return {
        kind: "credentials",
        accountId,
        deadline: deadline(),
        actor: { person: sessions.require(caller).name, requestId: inbound.requestId, address: inbound.address },
      };
    },
    finalize: nothing,
    renew: (call, caller) => (call.writes ? sessions.identifyAgain(call.inbound) : sameCaller(call, caller)),
    rejected: onRejection,
  };
}

/**
 * Returns the access policy of the internal listener. It checks a service token instead of an API key, and has no
 * throttle and no interface switch.
 */
export function internalAccessPolicy(
  access: InternalAccess,
  switches: () => SwitchState,
  requireFreshSwitches: () => void,
  freshSwitches: () => Promise<void> | undefined,
): AccessPolicy {
  const open = ({ rules }: Call): boolean => rules.credential === Credential.NONE;
  const isPausable = (call: Call): boolean => call.writes && !call.isOperatorRpc;
  const guarded: readonly Guard[] = [
    (call) => access.requireToken(call.inbound), // 401
    (call) => void (isPausable(call) && requireWrites(switches())), // 503
    (call) => void (isPausable(call) && requireFreshSwitches()), // 503
  ];
  const ready = (call: Call): Promise<void> | undefined => (isPausable(call) ? freshSwitches() : undefined);
  return {
    async identify(inbound, call) {
      if (call !== undefined && isPausable(call)) {
        // A caller without a token does not wait.
        access.requireToken(inbound); // 401
        await waitUntilReady({ ready }, call, deadlineIn(leftOf(inbound), inbound.limits, inbound.tally));
      }
      return { kind: "nobody", sent: "nothing" };
    },
    guards: (call) => (open(call) ? [] : guarded),
    ready,
    async grant(call, caller, deadline) {
      if (open(call)) return undefined;
      if (!call.isForAccount) {
        const recheck = (): void => runGuards(guarded, call, caller);
        return access.operator(call.inbound, deadline, recheck, () => ready(call));
      }
      const until = deadline();
      return readScope(await access.accountOf(call.inbound, until), until);
    },
    finalize: nothing,
    renew: sameCaller,
    rejected: nothing,
  };
}
