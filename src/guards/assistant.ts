// The access policy of the MCP surface: authenticates a request once, by its access token; its tool calls only read.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { Failure, fail } from "../errors.ts";
import type { Inbound } from "../rpc/dispatch.ts";
import { bearer } from "./authenticate.ts";
import type { TokenFacts } from "./call.ts";
import { observeCaller } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import type { AccessPolicy } from "./chain.ts";
import type { Credential, Found, Recognizers } from "./credentials.ts";
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

/** A request that is let in. */
export interface Entry {
  readonly holder: TokenFacts;
  /**
   * Proves that the token is valid, once the body is there: the look-up and the read overlap, and no response leaves
   * before both are done. Fails as `enter` does.
   */
  prove(): Promise<void>;
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

interface Entered extends Entry {
  readonly holder: Reader;
  /** Proves the token again where its proof began long before the read was done. */
  proveAfterRead(): Promise<void>;
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
    grant: ({ inbound }, _caller, deadline) => Promise.resolve(readOnlyScope(holder(inbound).accountId, deadline())),
    // A read may have waited: what has ended meanwhile gets no data.
    finalize: async ({ inbound }) => entered.get(inbound)?.proveAfterRead(),
    renew: () => Promise.resolve(),
    rejected: () => Promise.resolve(),
  };
}

/** A proof that began earlier is made again: before the read, or before its response. */
const slowMs = 500;

function createAdmission(dependencies: AssistantAccessDependencies) {
  const { tokens, recognizers, capacity, switches, requireFreshSwitches } = dependencies;
  const recognizer = recognizers(({ accountId }: TokenFacts) => accountId);
  const credentialOf = (token: string): Credential<TokenFacts> => ({
    name: digestName(token),
    provenLater: true,
    lookUp: (deadline) => tokens.identify(token, deadline),
  });

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
    const credential = token === undefined ? undefined : credentialOf(token);
    const onHolder = (facts: TokenFacts): void => observeCaller(inbound, { kind: "token", token: facts });
    const deadline = (): Deadline => deadlineIn(deadlineMs, {}, inbound.tally);
    const arrival = { address: inbound.address, deadline: deadline(), optional: false, onHolder };
    const found = await recognizer.recognize(credential, arrival); // 429
    const lookUp = (known: Credential<TokenFacts>): Promise<Found<TokenFacts>> => {
      const due = deadline();
      return capacity.run("known", due, () => recognizer.lookUpAgain(known, due));
    };
    const presumed = presumedReader(found);
    // What is remembered of a holder whose account is not in service decides nothing.
    const isUnproven = found.kind === "valid" && !found.proven;
    if (presumed !== undefined) requireInterface(switches()); // 503
    const holder =
      presumed ?? readerOf(credential !== undefined && isUnproven ? await lookUp(credential) : found, inbound);
    let provenAt = presumed === undefined ? performance.now() : -Infinity;
    async function proveBy(look: (known: Credential<TokenFacts>) => Promise<Found<TokenFacts>>): Promise<void> {
      if (credential === undefined || performance.now() - provenAt < slowMs) return;
      provenAt = performance.now();
      const { accountId } = readerOf(await look(credential), inbound);
      // The read may have begun in the account that the user had before.
      if (!accountId.equals(holder.accountId)) fail(Reason.UNAVAILABLE, { because: "other account" });
    }
    return {
      holder,
      prove: () => proveBy(lookUp),
      // The read has a place already.
      proveAfterRead: () => proveBy((known) => recognizer.lookUpAgain(known, deadline())),
    };
  };
}

/** The holder of a token that was valid when it was last looked up, with an account in service. */
function presumedReader(found: Found<TokenFacts>): Reader | undefined {
  if (found.kind !== "valid" || found.proven) return undefined;
  const { accountId, ...facts } = found.holder;
  return accountId === undefined || facts.suspended === true ? undefined : { ...facts, accountId };
}
