// Access policies of the two listeners: the guards for each credential, in the contract's status order (§2.2, §7.5).
import { Credential } from "../gen/records/v1/options_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { deadlineIn } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Authentication } from "./authenticate.ts";
import type { KeyFacts, RpcFacts } from "./call.ts";
import type { AccessPolicies, AccessPolicy, Guard } from "./chain.ts";
import { leftOf, waitUntilReady } from "./chain.ts";
import type { InternalAccess } from "./internal.ts";
import { readScope } from "../call/scope.ts";
import type { SessionGuard } from "./session.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface } from "./switches.ts";

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
  readonly onRejection: NonNullable<AccessPolicy["rejected"]>;
}

/** The time limit for looking up the key of a request that needs none. The key only selects the request's bucket. */
const optionalKeyWaitMs = 500;
const atOnce = (): undefined => undefined;

/** Returns the access policies of the public listener. */
export function publicAccessPolicies(dependencies: PublicAccessDependencies): AccessPolicies {
  return {
    policyOf(facts) {
      if (facts === undefined || facts.rules.credential === Credential.NONE) return openPolicy(dependencies, facts);
      return facts.rules.credential === Credential.SESSION
        ? sessionPolicy(dependencies, facts)
        : keyPolicy(dependencies, facts);
    },
  };
}

function openPolicy({ authentication }: PublicAccessDependencies, facts: RpcFacts | undefined): AccessPolicy {
  return {
    // Only health is served despite overload (200 or 429). A request that is not an rpc can be rejected (503).
    identify: (inbound) =>
      authentication.identify(inbound, {
        isProvenLater: () => true,
        deadline: deadlineIn(optionalKeyWaitMs, {}, inbound.tally),
        optional: facts !== undefined,
      }),
    check: atOnce,
    ready: atOnce,
    grant: atOnce,
    // An rpc that needs no key is served even if the key that was sent has ended meanwhile.
    finalize: atOnce,
    renew: undefined,
    rejected: undefined,
  };
}

function keyPolicy(
  { authentication, switches, requireFreshSwitches, freshSwitches, onUse }: PublicAccessDependencies,
  { writes }: RpcFacts,
): AccessPolicy {
  return {
    // Reads and writes prove the key themselves. It is looked up here if the guards reject the request before that.
    identify: (inbound, attempt) =>
      authentication.identify(inbound, {
        isProvenLater: (key) => !writes || (!key.readOnly && switches().writes),
        deadline: deadlineIn(leftOf(inbound), {}, inbound.tally),
        optional: false,
        attempt,
      }),
    check(_call, caller) {
      const state = switches();
      if (!state.publicInterface) fail(Reason.INTERFACE_DISABLED); // 503
      const { key } = authentication.require(caller); // 401, 403
      if (writes && key.readOnly) fail(Reason.ACCESS_DENIED); // 403
      if (writes && !state.writes) fail(Reason.WRITES_PAUSED); // 503
      requireFreshSwitches(); // 503
    },
    ready: freshSwitches,
    grant(_call, caller, deadline) {
      const { key, unproven } = authentication.require(caller);
      return readScope(key.accountId, deadline(), unproven);
    },
    finalize(_inbound, caller) {
      if (caller.kind !== "key") return undefined;
      const used = (): void => onUse(caller.key);
      if (caller.unproven.proven) return void used();
      requireInterface(switches()); // 503, which comes before 401
      return caller.unproven.prove().then(used);
    },
    // The write itself proves the key.
    renew: undefined,
    rejected: undefined,
  };
}

function sessionPolicy({ sessions, onRejection }: PublicAccessDependencies, { writes }: RpcFacts): AccessPolicy {
  return {
    identify: (inbound) => sessions.identify(inbound),
    // The switches do not apply: users must always be able to revoke a key.
    check(call, caller) {
      sessions.requireShownUser(call, caller); // 401
      sessions.requireAccount(caller); // 401, 403
      sessions.requireOrigin(call); // 403
      sessions.requireEnrolment(call, caller); // 403
    },
    ready: atOnce,
    grant({ inbound }, caller, deadline) {
      const accountId = sessions.requireAccount(caller).id;
      return {
        kind: "credentials",
        accountId,
        deadline: deadline(),
        actor: { person: sessions.require(caller).name, requestId: inbound.requestId, address: inbound.address },
      };
    },
    finalize: atOnce,
    renew: writes ? (inbound) => sessions.identifyAgain(inbound) : undefined,
    rejected: onRejection,
  };
}

/**
 * Returns the access policies of the internal listener. They check a service token instead of an API key, and have no
 * throttle and no interface switch.
 */
export function internalAccessPolicies(
  access: InternalAccess,
  switches: () => SwitchState,
  requireFreshSwitches: () => void,
  freshSwitches: () => Promise<void> | undefined,
): AccessPolicies {
  return {
    policyOf(facts) {
      const isOpen = facts === undefined || facts.rules.credential === Credential.NONE;
      const isPausable = facts?.writes === true && !facts.isOperatorRpc;
      const ready = isPausable ? freshSwitches : atOnce;
      const check: Guard = ({ inbound }) => {
        if (isOpen) return;
        access.requireToken(inbound); // 401
        if (isPausable && !switches().writes) fail(Reason.WRITES_PAUSED); // 503
        if (isPausable) requireFreshSwitches(); // 503
      };
      return {
        async identify(inbound) {
          if (isPausable) {
            // A caller without a token does not wait.
            access.requireToken(inbound); // 401
            await waitUntilReady(ready(), deadlineIn(leftOf(inbound), inbound.limits, inbound.tally));
          }
          return { kind: "nobody", sent: "nothing" };
        },
        check,
        ready,
        async grant(call, caller, deadline) {
          if (isOpen) return undefined;
          if (!facts.isForAccount) {
            return access.operator(call.inbound, deadline, () => check(call, caller), ready);
          }
          const until = deadline();
          return readScope(await access.accountOf(call.inbound, until), until);
        },
        finalize: atOnce,
        renew: undefined,
        rejected: undefined,
      };
    },
  };
}
