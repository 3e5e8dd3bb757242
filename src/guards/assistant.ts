// The door of the MCP surface: a request is let in once, by its access token, and each tool call of it then only reads.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { deadlineIn, deadlineMs, within } from "../deadline.ts";
import { fail } from "../errors.ts";
import type { Inbound } from "../rpc/dispatch.ts";
import { bearer } from "./authenticate.ts";
import type { Caller, TokenFacts } from "./call.ts";
import { observeCaller } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import type { Door } from "./chain.ts";
import { readOnlyScope } from "./scope.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface } from "./switches.ts";
import type { Throttle } from "./throttle.ts";

/** The look-up of access tokens, handed in by the composition root. */
export interface Tokens {
  /** Whether this instance has verified the token before, so that asking again costs the provider nothing. */
  knows(token: string): boolean;
  /** Who the token stands for. Fails with INVALID_TOKEN or UNAVAILABLE. */
  identify(token: string): Promise<TokenFacts>;
}

/** Lets assistants in. */
export interface AssistantDoor extends Door {
  /** The guards of the endpoint: 503 when there is too much to do, then in the contract's order (§8) 429, 503, 401; then 403 for a person without an account. */
  enter(inbound: Inbound): Promise<TokenFacts>;
}

/** What the door is made of. */
export interface AssistantDoorParts {
  readonly throttle: Throttle;
  readonly tokens: Tokens;
  readonly switches: () => SwitchState;
  /** Fails with UNAVAILABLE where the switches may have been set since they were read. */
  readonly requireFreshSwitches: () => void;
  readonly capacity: Capacity;
}

export function assistantDoor({ throttle, tokens, switches, requireFreshSwitches, capacity }: AssistantDoorParts): AssistantDoor {
  const entered = new WeakMap<Inbound, TokenFacts>();

  /** A token that was not seen before is charged to the address, before the provider is asked anything about it. */
  async function charge(inbound: Inbound, token: string | undefined): Promise<() => Promise<TokenFacts>> {
    if (token === undefined || !tokens.knows(token)) {
      await throttle({ kind: "nobody", sent: token !== undefined }, inbound.address);
      return () => (token === undefined ? fail(Reason.INVALID_TOKEN) : within(deadlineIn(deadlineMs), tokens.identify(token)));
    }
    const identified = await within(deadlineIn(deadlineMs), tokens.identify(token)).then(
      (facts) => ({ caller: { kind: "token", token: facts } satisfies Caller, result: () => Promise.resolve(facts) }),
      (error: unknown) => ({ caller: { kind: "nobody", sent: true } satisfies Caller, result: () => Promise.reject(error as Error) }),
    );
    observeCaller(inbound, identified.caller);
    await throttle(identified.caller, inbound.address);
    return identified.result;
  }

  const holder = (inbound: Inbound): TokenFacts => entered.get(inbound) ?? fail(Reason.INVALID_TOKEN);
  return {
    async enter(inbound) {
      capacity.require(); // 503
      const identify = await capacity.count(() => charge(inbound, bearer(inbound.header("authorization")))); // 429
      requireInterface(switches()); // 503
      const facts = await identify(); // 401
      observeCaller(inbound, { kind: "token", token: facts });
      if (facts.accountId === undefined) fail(Reason.NO_ACCOUNT); // 403
      requireFreshSwitches(); // 503
      entered.set(inbound, facts);
      return facts;
    },
    charge: (inbound) => Promise.resolve({ kind: "token", token: holder(inbound) }),
    // What the surface offers are reads; should a write ever be among them, it ends here, and once more in the store.
    guards: () => [(call) => void (call.writes && fail(Reason.ACCESS_DENIED, { message: "Access denied: an assistant may only read." }))],
    grant({ inbound }, _caller, deadline) {
      return Promise.resolve(readOnlyScope(holder(inbound).accountId ?? fail(Reason.NO_ACCOUNT), deadline()));
    },
    conclude: () => Promise.resolve(),
    renew: () => Promise.resolve(),
    refused: () => Promise.resolve(),
  };
}
