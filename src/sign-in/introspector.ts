// Cache of introspections (RFC 7662): one request for all waiting callers, refreshed in the background while a token is
// in use. While the provider is unresponsive, one caller waits for it, and not each.
import type { JWTPayload } from "jose";
import { setBounded } from "../call/bounded-cache.ts";
import { withTimeout } from "../call/time-limit.ts";
import type { IdentityProvider } from "./provider.ts";

/** The result of an introspection. */
interface Introspection {
  /** When the request was sent, or when it failed, in milliseconds of `performance.now()`. */
  readonly at: number;
  /**
   * Undefined if the provider offers no introspection. After a failure, the claims of the previous response, if any.
   */
  readonly claims: JWTPayload | undefined;
  /** Why the request failed. */
  readonly error?: unknown;
}

/**
 * The maximum age of a cached result. A token revoked at the provider is rejected within 5 seconds if the provider
 * responds within `patienceMs`.
 */
const introspectionMs = 3_000;
/** The age at which a result is refreshed while its token is in use. The next request then does not wait. */
const refreshMs = 2_000;
/** How long a token counts as in use after a request. A model may think this long between two calls. */
const latelyMs = 30_000;
/** The maximum number of tokens that are introspected in the background: 50 requests a second at the provider. */
const maxRefreshed = 100;
/** How long a request with a signed token waits for introspection. After that, the last result is used. */
const patienceMs = 1_500;
/**
 * How long a request waits for the first introspection of a signed token without `sid` or `auth_time`. The following
 * read needs the rest of the deadline.
 */
const firstPatienceMs = 3_500;
/** The same for a token that only the provider can read. The request to the provider ends before. */
const onlyPatienceMs = 4_500;
/** How long no request waits for a provider that was late. Requests in the background show when it responds again. */
const unresponsiveMs = 5_000;
const late = new Error("the identity provider did not introspect in time");

type Provider = Pick<IdentityProvider, "introspect">;

export function createIntrospector(provider: Provider) {
  const results = new Map<string, Introspection>();
  const underWay = new Map<string, Promise<Introspection>>();
  const refreshed = createRefreshed();
  /** When the provider was last late, in milliseconds of `performance.now()`. -Infinity once it responds again. */
  let lateAt = -Infinity;
  /** When the provider was last on time. */
  let onTimeAt = -Infinity;
  const lateResult: Introspection = { at: -Infinity, claims: undefined, error: late };

  /** Returns a result that is at most 3 seconds old. After a failure, it has the claims of the previous one. */
  function fresh(token: string, name: string): Promise<Introspection> {
    const known = results.get(name);
    return isYounger(known, introspectionMs) ? Promise.resolve(known) : introspectOnce(token, name, known);
  }

  /** Waits for a fresh result up to a limit, and not at all while the provider is unresponsive. */
  async function freshWithin(
    limitMs: number,
    token: string,
    name: string,
    otherwise: Introspection,
  ): Promise<Introspection> {
    const isLate = performance.now() - lateAt < unresponsiveMs;
    return withTimeout(isLate ? 0 : limitMs, fresh(token, name), () => {
      if (!isLate) lateAt = performance.now();
      return otherwise;
    });
  }

  /** Introspects a token that only the provider can read. While it is unavailable, the last claims count. */
  function introspect(token: string, name: string): Promise<Introspection> {
    return freshWithin(onlyPatienceMs, token, name, results.get(name) ?? lateResult);
  }

  function introspectOnce(token: string, name: string, known: Introspection | undefined): Promise<Introspection> {
    let pending = underWay.get(name);
    if (pending === undefined) {
      const begunAt = performance.now();
      // A late provider stays late while it lets requests wait, so that no caller waits for one of them.
      const stillLate = setTimeout(() => {
        if (lateAt > -Infinity && begunAt >= onTimeAt) lateAt = performance.now();
      }, patienceMs).unref();
      pending = requestIntrospection(provider, token, known)
        .then((result) => {
          // A response that came, or a failure in time, costs no caller its wait.
          if (result.error === undefined || performance.now() - begunAt < patienceMs) {
            lateAt = -Infinity;
            onTimeAt = performance.now();
          } else if (begunAt >= onTimeAt) lateAt = performance.now();
          // A failed refresh must not replace a result that is still fresh.
          if (result.error === undefined || !isYounger(results.get(name), introspectionMs))
            setBounded(results, name, result);
          return result;
        })
        .finally(() => {
          clearTimeout(stillLate);
          underWay.delete(name);
        });
      underWay.set(name, pending);
    }
    return pending;
  }

  /**
   * Introspects a signed token that only a revocation can affect. Waits at most 1.5 seconds, and then returns the last
   * result. A late response counts for the next request.
   */
  function introspectSoon(token: string, name: string): Promise<Introspection> {
    const last = results.get(name) ?? { at: -Infinity, claims: undefined };
    return freshWithin(patienceMs, token, name, last);
  }

  /** Introspects a signed token that lacks claims, and waits up to 3.5 seconds for the first result. */
  function introspectFirst(token: string, name: string): Promise<Introspection> {
    if (results.get(name)?.claims !== undefined) return introspectSoon(token, name);
    return freshWithin(firstPatienceMs, token, name, lateResult);
  }

  return {
    introspect,
    introspectSoon,
    introspectFirst,
    /** Introspects an accepted token again before its result is stale. */
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
    // Counted from the failure, so that the next request does not wait for an unresponsive provider again at once.
    return { at: performance.now(), claims: known?.claims, error };
  }
}

/** Whether the value exists and is younger than `ms` milliseconds. */
export function isYounger<T extends { readonly at: number }>(known: T | undefined, ms: number): known is T {
  return performance.now() - (known?.at ?? -Infinity) < ms;
}

/** Refreshes results before they are stale, while the token is active and in use and the provider responds. */
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
    /** Records a use of the token. `introspect` introspects it again. */
    use(name: string, last: Introspection, introspect: (last: Introspection) => Promise<Introspection>): void {
      const isKnown = used.has(name);
      if (!isKnown && used.size >= maxRefreshed) return;
      used.set(name, performance.now());
      if (!isKnown) refreshLater(name, last, introspect);
    },
  };
}
