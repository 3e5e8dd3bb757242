// What the provider says of access tokens (RFC 7662): requested once for all who wait, cached, and refreshed in the
// background while a token is in use.
import type { JWTPayload } from "jose";
import { keep } from "../remembered.ts";
import type { IdentityProvider } from "../sign-in/provider.ts";
import { orAfter } from "../time-limit.ts";

/** What the provider said of a token, and when. */
interface Introspection {
  /** By the monotonic clock. */
  readonly at: number;
  /** Undefined where the provider does not say; where it was away or rejected, what it said before. */
  readonly claims: JWTPayload | undefined;
  /** Why it said nothing. */
  readonly error?: unknown;
}

/** Within 5 seconds a token that was revoked at the provider is rejected: the response may take 2 of them. */
const introspectionMs = 3_000;
/** A token that was used lately is introspected again at this age, so that its next request does not wait. */
const refreshMs = 2_000;
/** A model thinks for so long between two calls. */
const latelyMs = 30_000;
/** The most tokens that are introspected in the background: 50 requests a second at the provider. */
const mostRefreshed = 100;
/** For longer than this a token that is signed does not wait for what the provider says: it is as good as away. */
const patienceMs = 1_500;
/** The same for one that leaves open what a sign-out ends it by. The rest of the deadline is for what is read then. */
const firstPatienceMs = 3_500;
const late = new Error("the identity provider did not introspect in time");

type Provider = Pick<IdentityProvider, "introspect">;

export function createIntrospector(provider: Provider) {
  const results = new Map<string, Introspection>();
  const underWay = new Map<string, Promise<Introspection>>();
  const refreshed = createRefreshed();

  /** What the provider says, at most 3 seconds old; while it is away, what it said last. */
  function introspect(token: string, name: string): Promise<Introspection> {
    const known = results.get(name);
    return isYounger(known, introspectionMs) ? Promise.resolve(known) : introspectOnce(token, name, known);
  }

  function introspectOnce(token: string, name: string, known: Introspection | undefined): Promise<Introspection> {
    let pending = underWay.get(name);
    if (pending === undefined) {
      pending = requestIntrospection(provider, token, known)
        .then((result) => {
          // In the background a provider that is away makes nothing younger.
          if (result.error === undefined || !isYounger(results.get(name), introspectionMs)) keep(results, name, result);
          return result;
        })
        .finally(() => underWay.delete(name));
      underWay.set(name, pending);
    }
    return pending;
  }

  /**
   * The same where nothing hangs on it but a revocation: a response that comes too late for this request counts for the
   * next.
   */
  function introspectSoon(token: string, name: string): Promise<Introspection> {
    const last = results.get(name) ?? { at: -Infinity, claims: undefined };
    return orAfter(patienceMs, introspect(token, name), () => last);
  }

  /** The same where the token leaves open what the provider has to say once: that is waited for longer. */
  function introspectFirst(token: string, name: string): Promise<Introspection> {
    if (results.get(name)?.claims !== undefined) return introspectSoon(token, name);
    return orAfter(firstPatienceMs, introspect(token, name), () => ({ at: -Infinity, claims: undefined, error: late }));
  }

  return {
    introspect,
    introspectSoon,
    introspectFirst,
    /** Introspects a token that was accepted, before it is stale. */
    refresh(token: string, name: string): void {
      const last = results.get(name);
      if (last !== undefined) refreshed.use(name, last, (known) => introspectOnce(token, name, known));
    },
  };
}

async function requestIntrospection(
  provider: Provider,
  token: string,
  known: Introspection | undefined,
): Promise<Introspection> {
  const at = performance.now();
  try {
    const said = await provider.introspect(token);
    return { at, claims: said as JWTPayload | undefined };
  } catch (error) {
    // Counted from now: who waited in vain for a provider that says nothing does not wait again at once.
    return { at: performance.now(), claims: known?.claims, error };
  }
}

/** Whether it is younger than `ms`. */
export function isYounger<T extends { readonly at: number }>(known: T | undefined, ms: number): known is T {
  return performance.now() - (known?.at ?? -Infinity) < ms;
}

/** Introspects tokens before they are stale, for as long as they are active, in use, and the provider responds. */
function createRefreshed() {
  const used = new Map<string, number>();

  function refreshLater(
    name: string,
    last: Introspection,
    introspect: (last: Introspection) => Promise<Introspection>,
  ): void {
    if (last.claims?.["active"] !== true || last.error !== undefined) return void used.delete(name);
    const refresh = async (): Promise<void> => {
      if (performance.now() - (used.get(name) ?? -Infinity) > latelyMs) used.delete(name);
      else refreshLater(name, await introspect(last), introspect);
    };
    setTimeout(() => void refresh(), Math.min(refreshMs, last.at + refreshMs - performance.now())).unref();
  }

  return {
    /** Notes a use; `introspect` introspects once more. */
    use(name: string, last: Introspection, introspect: (last: Introspection) => Promise<Introspection>): void {
      const isKnown = used.has(name);
      if (!isKnown && used.size >= mostRefreshed) return;
      used.set(name, performance.now());
      if (!isKnown) refreshLater(name, last, introspect);
    },
  };
}
