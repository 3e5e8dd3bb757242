// The access policy of the MCP surface: authenticates a request once, by its access token; its tool calls only read.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { Failure, fail } from "../errors.ts";
import { requireRoomLeft } from "../large/sending.ts";
import type { Inbound } from "../call/dispatch.ts";
import { bearer } from "./authenticate.ts";
import type { TokenFacts } from "./call.ts";
import { observeCaller } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import type { AccessPolicy } from "./chain.ts";
import type { Credential, Found, Recognizers } from "./credentials.ts";
import { digestName } from "./credentials.ts";
import { readOnlyScope } from "../call/scope.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface } from "./switches.ts";
import type { Throttle } from "./throttle.ts";
import { accountBucket } from "./throttle.ts";
import type { TokenProver } from "./token-proof.ts";
import { createProver } from "./token-proof.ts";

/** The look-up of access tokens, handed in by the composition root. */
export interface Tokens {
  /** The user and client of the token. Fails with INVALID_TOKEN or UNAVAILABLE. */
  identify(token: string, deadline: Deadline): Promise<TokenFacts>;
  /**
   * Whether the token is still valid, and of the same sign-in, as far as MongoDB is not needed for that. Never rejects.
   */
  verifies(token: string, facts: TokenFacts, deadline: Deadline): Promise<boolean>;
}

/** A request that is let in. */
export interface Entry {
  readonly holder: TokenFacts;
  /** Proves that the token is valid, once the body is there; no response leaves before. Fails as `enter` does. */
  prove(read?: Promise<unknown>): Promise<void>;
}

/** Lets assistants in. */
export interface AssistantAccessPolicy extends AccessPolicy {
  /**
   * The guards of the endpoint, in the contract's order (§8): 429, 503, 401; then 403 without an account. A token that
   * was valid before is throttled, and proven by the entry.
   */
  enter(inbound: Inbound): Promise<Entry>;
  /** Takes the tokens for the further calls of an entered request. Takes all or none; fails with RATE_LIMITED. */
  throttleMore(inbound: Inbound, calls: number): Promise<void>;
}

/** Its dependencies. */
export interface AssistantAccessDependencies {
  readonly throttle: Throttle;
  readonly tokens: Tokens;
  readonly recognizers: Recognizers;
  readonly capacity: Capacity;
  readonly switches: () => SwitchState;
  /** Fails with UNAVAILABLE where the switches may have been set since they were read. */
  readonly requireFreshSwitches: () => void;
}

/** The holder of a token whose account is in service. */
type Reader = TokenFacts & { readonly accountId: NonNullable<TokenFacts["accountId"]> };

interface Entered extends Entry, TokenProver {
  readonly holder: Reader;
}

export function assistantAccessPolicy(dependencies: AssistantAccessDependencies): AssistantAccessPolicy {
  const { throttle } = dependencies;
  const entered = new WeakMap<Inbound, Entered>();
  const holder = (inbound: Inbound): Reader => entered.get(inbound)?.holder ?? fail(Reason.INVALID_TOKEN);
  const enter = createAdmission(dependencies);

  return {
    async enter(inbound) {
      const entry = await enter(inbound);
      entered.set(inbound, entry);
      return entry;
    },
    throttleMore: (inbound, calls) => throttle(accountBucket(holder(inbound).accountId), inbound.tally, calls),
    identify: (inbound) => Promise.resolve({ kind: "token", token: holder(inbound) }),
    // What the surface offers are reads; should a write ever be among them, it ends here, and once more in the store.
    guards: () => [
      (call) =>
        void (call.writes && fail(Reason.ACCESS_DENIED, { message: "Access denied: assistants can only read." })),
    ],
    grant: ({ inbound }, _caller, deadline) =>
      Promise.resolve(readOnlyScope(holder(inbound).accountId, deadline(), entered.get(inbound)?.unproven())),
    // A read may have waited: what has ended meanwhile gets no data.
    finalize: async ({ inbound }) => entered.get(inbound)?.proveAfterRead(),
    renew: (_call, caller) => Promise.resolve(caller),
    rejected: () => Promise.resolve(),
  };
}

function createAdmission(dependencies: AssistantAccessDependencies) {
  const { tokens, recognizers, capacity, switches, requireFreshSwitches } = dependencies;
  const recognizer = recognizers(({ accountId }: TokenFacts) => accountId && accountBucket(accountId));
  const credentialOf = (token: string): Credential<TokenFacts> => ({
    name: digestName(token),
    isProvenLater: () => true,
    lookUp: (deadline) => tokens.identify(token, deadline),
  });

  const lookUp = (token: string, deadline: Deadline): Promise<Found<TokenFacts>> =>
    capacity.run("known", deadline, () => recognizer.lookUpAgain(credentialOf(token), deadline));
  const requireSwitches = (): void => {
    requireInterface(switches()); // 503
    requireFreshSwitches(); // 503
  };

  function readerOf(found: Found<TokenFacts>, inbound: Inbound): Reader {
    requireInterface(switches()); // 503
    if (found.kind === "unreadable") throw found.cause; // 503
    if (found.kind === "invalid") throw found.failure ?? new Failure(Reason.INVALID_TOKEN); // 401
    const { accountId, ...facts } = found.holder;
    observeCaller(inbound, { kind: "token", token: found.holder });
    if (accountId === undefined) fail(Reason.NO_ACCOUNT); // 403
    if (facts.suspended === true) fail(Reason.ACCOUNT_SUSPENDED); // 403
    requireFreshSwitches(); // 503
    return { ...facts, accountId };
  }

  return async function enter(inbound: Inbound): Promise<Entered> {
    const token = bearer(inbound.header("authorization"));
    const onHolder = (facts: TokenFacts): void => observeCaller(inbound, { kind: "token", token: facts });
    const deadline = (): Deadline => deadlineIn(deadlineMs, {}, inbound.tally);
    const arrival = { address: inbound.address, deadline: deadline(), optional: false, onHolder };
    const found = await recognizer.recognize(token === undefined ? undefined : credentialOf(token), arrival); // 429
    requireInterface(switches()); // 503
    if (token === undefined) return fail(Reason.INVALID_TOKEN);
    const presumed = presumedReader(found);
    // What is remembered of a holder whose account is not in service decides nothing.
    const isUnproven = found.kind === "valid" && !found.proven;
    const holder = presumed ?? readerOf(isUnproven ? await lookUp(token, deadline()) : found, inbound);
    requireRoomLeft(inbound.tally); // 503
    const again = async (look: Promise<Found<TokenFacts>>): Promise<Reader> => readerOf(await look, inbound);
    const prover = createProver({
      ...{ holder, requireSwitches, deadline },
      verifies: () => tokens.verifies(token, holder, deadline()),
      lookUp: (due) => again(lookUp(token, due)),
      lookUpInPlace: (due) => again(recognizer.lookUpAgain(credentialOf(token), due)),
    });
    return { holder, ...prover };
  };
}

/** The holder of a token that was valid when it was last looked up, with an account in service. */
function presumedReader(found: Found<TokenFacts>): Reader | undefined {
  if (found.kind !== "valid" || found.proven) return undefined;
  const { accountId, ...facts } = found.holder;
  return accountId === undefined || facts.suspended === true ? undefined : { ...facts, accountId };
}
