// The access policy of the MCP surface: authenticates a request once, by its access token; its tool calls only read.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { Failure, fail } from "../errors.ts";
import type { Inbound } from "../rpc/dispatch.ts";
import { bearer } from "./authenticate.ts";
import type { TokenFacts } from "./call.ts";
import { observeCaller } from "./call.ts";
import type { AccessPolicy } from "./chain.ts";
import type { Credential, Recognizers } from "./credentials.ts";
import { digestName } from "./credentials.ts";
import { readOnlyScope } from "./scope.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface } from "./switches.ts";
import type { Throttle } from "./throttle.ts";
import { accountBucket } from "./throttle.ts";

/** The look-up of access tokens, handed in by the composition root. */
export interface Tokens {
  /** The user and client of the token. Fails with INVALID_TOKEN or UNAVAILABLE. */
  identify(token: string, deadline: Deadline): Promise<TokenFacts>;
}

/** Lets assistants in. */
export interface AssistantAccessPolicy extends AccessPolicy {
  /** The guards of the endpoint, in the contract's order (§8): 429, 503, 401; then 403 without an account. */
  enter(inbound: Inbound): Promise<TokenFacts>;
  /** Takes the tokens for the further calls of an entered request. Takes all or none; fails with RATE_LIMITED. */
  throttleMore(inbound: Inbound, calls: number): Promise<void>;
}

/** Its dependencies. */
export interface AssistantAccessDependencies {
  readonly throttle: Throttle;
  readonly tokens: Tokens;
  readonly recognizers: Recognizers;
  readonly switches: () => SwitchState;
  /** Fails with UNAVAILABLE where the switches may have been set since they were read. */
  readonly requireFreshSwitches: () => void;
}

export function assistantAccessPolicy(dependencies: AssistantAccessDependencies): AssistantAccessPolicy {
  const { throttle, tokens, recognizers, switches, requireFreshSwitches } = dependencies;
  const recognizer = recognizers(({ accountId }: TokenFacts) => accountId);
  const entered = new WeakMap<Inbound, TokenFacts>();
  const holder = (inbound: Inbound): TokenFacts => entered.get(inbound) ?? fail(Reason.INVALID_TOKEN);
  const accountOf = (inbound: Inbound): NonNullable<TokenFacts["accountId"]> =>
    holder(inbound).accountId ?? fail(Reason.NO_ACCOUNT);
  const credentialOf = (token: string): Credential<TokenFacts> => ({
    name: digestName(token),
    provenLater: false,
    lookUp: (deadline) => tokens.identify(token, deadline),
  });

  return {
    async enter(inbound) {
      const token = bearer(inbound.header("authorization"));
      const onHolder = (facts: TokenFacts): void => observeCaller(inbound, { kind: "token", token: facts });
      const found = await recognizer.recognize(token === undefined ? undefined : credentialOf(token), {
        address: inbound.address,
        deadline: deadlineIn(deadlineMs, {}, inbound.tally),
        optional: false,
        onHolder,
      }); // 429
      requireInterface(switches()); // 503
      if (found.kind === "unreadable") throw found.cause; // 503
      if (found.kind === "invalid") throw found.failure ?? new Failure(Reason.INVALID_TOKEN); // 401
      const facts = found.holder;
      onHolder(facts);
      if (facts.accountId === undefined) fail(Reason.NO_ACCOUNT); // 403
      if (facts.suspended === true) fail(Reason.ACCOUNT_SUSPENDED); // 403
      requireFreshSwitches(); // 503
      entered.set(inbound, facts);
      return facts;
    },
    throttleMore: (inbound, calls) => throttle(accountBucket(accountOf(inbound)), inbound.tally, calls),
    identify: (inbound) => Promise.resolve({ kind: "token", token: holder(inbound) }),
    // What the surface offers are reads; should a write ever be among them, it ends here, and once more in the store.
    guards: () => [
      (call) =>
        void (call.writes && fail(Reason.ACCESS_DENIED, { message: "Access denied: an assistant may only read." })),
    ],
    grant: ({ inbound }, _caller, deadline) => Promise.resolve(readOnlyScope(accountOf(inbound), deadline())),
    finalize: () => Promise.resolve(),
    renew: () => Promise.resolve(),
    refused: () => Promise.resolve(),
  };
}
