// Access policy of the MCP surface: authenticates each request once, by its access token, and permits only reads.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn } from "../call/deadline.ts";
import { Failure, fail } from "../call/errors.ts";
import { requireBytesLeft } from "../large/sending.ts";
import type { Inbound } from "../call/dispatch.ts";
import { bearer } from "./authenticate.ts";
import type { TokenFacts } from "./call.ts";
import { observeCaller } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import type { AccessPolicies } from "./chain.ts";
import { identifyOnceFresh, leftOf } from "./chain.ts";
import type { Attempt, Credential, Recognition, CreateRecognizer, Presumption, Recognizer } from "./credentials.ts";
import { digestName } from "./credentials.ts";
import { readOnlyScope } from "../call/scope.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface } from "./switches.ts";
import type { Throttle } from "./throttle.ts";
import { accountBucket } from "./throttle.ts";

/** An access token, and the address of the client that sent it. */
export interface SentToken {
  readonly token: string;
  readonly address: string;
}

/** Looks up access tokens. The composition root provides it. */
export interface Tokens {
  /** Returns the holder of the token. Fails with INVALID_TOKEN or UNAVAILABLE. */
  identify(sent: SentToken, deadline: Deadline): Promise<TokenFacts>;
}

/** An admitted request. */
export interface Entry {
  readonly holder: TokenFacts;
  /** Proves that the token is valid. Call it once the body has arrived, and before any call. Fails as `enter` does. */
  prove(): Promise<void>;
  /**
   * Returns the request for its calls. Call it once the body has arrived: the time that the client took to send it does
   * not count against their deadline.
   */
  received(): Inbound;
}

/** The access of assistants: the guards of the endpoint, and then those of each call. */
export interface AssistantAccess extends AccessPolicies {
  /** Returns what memory knows of an access token. */
  presume(token: string): Presumption;
  /**
   * Runs the guards of the endpoint in the contract's order (§8): 429, 503, 401, 403. Fails with 403 unless the holder
   * has an account in service. A token that was valid before is only throttled here. The returned entry proves it.
   */
  enter(inbound: Inbound): Promise<Entry>;
  /** Takes bucket tokens for the further calls of an admitted request, all or none. Fails with RATE_LIMITED. */
  throttleMore(inbound: Inbound, calls: number): Promise<void>;
}

/** Dependencies of the access of assistants. */
export interface AssistantAccessDependencies {
  readonly throttle: Throttle;
  readonly tokens: Tokens;
  readonly recognizers: CreateRecognizer;
  readonly capacity: Capacity;
  readonly switches: () => SwitchState;
  /** Fails with UNAVAILABLE if the switches may have changed since they were read. */
  readonly requireFreshSwitches: () => void;
  /** Resolves once they are fresh, or when waiting longer does not help; undefined if they are fresh now. */
  readonly freshSwitches: () => Promise<void> | undefined;
}

type SwitchDependencies = Pick<AssistantAccessDependencies, "switches" | "requireFreshSwitches">;

/** A token holder whose account is in service. */
type Reader = TokenFacts & { readonly accountId: NonNullable<TokenFacts["accountId"]> };

interface Entered extends Pick<Entry, "prove"> {
  readonly holder: Reader;
  /** Proves the token again if its proof began too long before the read finished. */
  proveAfterRead(): Promise<void>;
  /** Discards all earlier proofs. */
  discard(): void;
}

/** The maximum age of a proof, in milliseconds. An older one is repeated before a response. */
const proofMs = 500;

export function createAssistantAccess(dependencies: AssistantAccessDependencies): AssistantAccess {
  const { throttle, freshSwitches } = dependencies;
  const requireSwitches = requirementOf(dependencies);
  const entered = new WeakMap<Inbound, Entered>();
  const holder = (inbound: Inbound): Reader => entered.get(inbound)?.holder ?? fail(Reason.INVALID_TOKEN);
  const recognizer = dependencies.recognizers(({ accountId }: TokenFacts) => accountId && accountBucket(accountId));
  const enter = createAdmission(dependencies, recognizer);

  return {
    presume: (token) => recognizer.presume(digestName(token)),
    async enter(inbound) {
      const entry = await enter(inbound);
      entered.set(inbound, entry);
      const spentMs = performance.now() - inbound.arrivedAt;
      function received(): Inbound {
        const whole = { ...inbound, arrivedAt: performance.now() - spentMs };
        entered.set(whole, entry);
        return whole;
      }
      return { ...entry, received };
    },
    throttleMore: (inbound, calls) =>
      // The whole batch is sent again, and then its first call takes a token as well.
      throttle(accountBucket(holder(inbound).accountId), inbound.tally, calls, calls + 1),
    policyOf: (facts) => ({
      identify: (inbound) => Promise.resolve({ kind: "token", token: holder(inbound) }),
      check() {
        requireSwitches(); // 503
        // The surface offers only reads. If a write is ever added, this rejects it, and so does the store.
        if (facts?.writes === true) fail(Reason.ACCESS_DENIED, { message: "Access denied: assistants can only read." });
      },
      ready(inbound) {
        // The token can end during the wait.
        return freshSwitches()?.then(() => entered.get(inbound)?.discard());
      },
      grant: ({ inbound }, _caller, deadline) => readOnlyScope(holder(inbound).accountId, deadline()),
      // A read may have waited. If the token has ended meanwhile, the caller gets no data.
      finalize: (inbound) => entered.get(inbound)?.proveAfterRead(),
      renew: undefined,
      rejected: undefined,
    }),
  };
}

/** Returns a function that fails with 503 if the interface is off, or may be. */
function requirementOf({ switches, requireFreshSwitches }: SwitchDependencies): () => void {
  return () => {
    requireInterface(switches()); // 503
    requireFreshSwitches(); // 503
  };
}

function createAdmission(dependencies: AssistantAccessDependencies, recognizer: Recognizer<TokenFacts>) {
  const { tokens, capacity, switches, requireFreshSwitches, freshSwitches } = dependencies;
  const credentialOf = (sent: SentToken): Credential<TokenFacts> => ({
    name: digestName(sent.token),
    isProvenLater: () => true,
    lookUp: (deadline) => tokens.identify(sent, deadline),
  });

  const lookUp = (sent: SentToken, deadline: Deadline): Promise<Recognition<TokenFacts>> =>
    capacity.run("verified", deadline, () => recognizer.lookUpAgain(credentialOf(sent), deadline));

  return async function enter(inbound: Inbound): Promise<Entered> {
    const token = bearer(inbound.header("authorization"));
    const sent = token === undefined ? undefined : { token, address: inbound.address };
    const onHolder = (facts: TokenFacts): void => observeCaller(inbound, { kind: "token", token: facts });
    const recognize = (attempt: Attempt): Promise<Recognition<TokenFacts>> =>
      recognizer.recognize(sent && credentialOf(sent), {
        address: inbound.address,
        deadline: deadlineIn(leftOf(inbound), {}, inbound.tally),
        optional: false,
        onHolder,
        attempt,
      });
    // 429
    const found = await identifyOnceFresh(inbound, recognize, freshSwitches, "invalid");
    requireInterface(switches()); // 503
    if (sent === undefined) return fail(Reason.INVALID_TOKEN);
    const presumed = presumedReader(found);
    if (presumed !== undefined) requireFreshSwitches(); // 503
    // A remembered holder without an account in service may be out of date, so the token is looked up.
    const isUnproven = found.kind === "valid" && !found.proven;
    const due = deadlineIn(leftOf(inbound), {}, inbound.tally);
    const holder = presumed ?? readerOf(isUnproven ? await lookUp(sent, due) : found, inbound, dependencies);
    requireBytesLeft(inbound.tally); // 503
    // The time that the client takes to send the body does not count against the deadline.
    const left = leftOf(inbound);
    const deadline = (): Deadline => deadlineIn(left, {}, inbound.tally);
    // A look-up before the body does not cover a read after it.
    let [provenAt, discardedAt] = [-Infinity, -Infinity];
    async function proveBy(look: (due: Deadline) => Promise<Recognition<TokenFacts>>): Promise<void> {
      const begunAt = performance.now();
      if (provenAt > discardedAt && begunAt - provenAt < proofMs) return;
      const { accountId } = readerOf(await look(deadline()), inbound, dependencies);
      // The calls are admitted for the account that the user had before.
      if (!accountId.equals(holder.accountId)) fail(Reason.UNAVAILABLE, { because: "other account" });
      provenAt = begunAt;
    }
    return {
      holder,
      prove: () => proveBy((due) => lookUp(sent, due)),
      // In the slot that the read still has.
      proveAfterRead: () => proveBy((due) => recognizer.lookUpAgain(credentialOf(sent), due)),
      discard() {
        discardedAt = performance.now();
      },
    };
  };
}

/** Returns the reader that was found. Fails with 503, 401 or 403 if there is none, in this order. */
function readerOf(
  found: Recognition<TokenFacts>,
  inbound: Inbound,
  { switches, requireFreshSwitches }: SwitchDependencies,
): Reader {
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

/** Returns the remembered holder of a token; undefined unless the token was valid and the account in service. */
function presumedReader(found: Recognition<TokenFacts>): Reader | undefined {
  if (found.kind !== "valid" || found.proven) return undefined;
  const { accountId, ...facts } = found.holder;
  return accountId === undefined || facts.suspended === true ? undefined : { ...facts, accountId };
}
