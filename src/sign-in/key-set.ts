// Cache of the identity provider's signing keys, refreshed in the background, and fetched for unknown keys at a limited
// rate.
import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { createLocalJWKSet, errors } from "jose";

/** Keys that verify signatures. */
export interface KeySet {
  /** Finds the key that a token names, for `jwtVerify`. */
  readonly find: JWTVerifyGetKey;
  /** Like `find`, for a token that came directly from the provider: an unknown key is always fetched. */
  readonly findTrusted: JWTVerifyGetKey;
  /**
   * Changes with the provider's keys, and differs between key sets. Signatures verified under an earlier revision must
   * be verified again.
   */
  revision(): symbol;
  /**
   * Fetches the keys in the background if the last attempt was at least a minute ago, so that withdrawn keys are
   * dropped.
   */
  refresh(): void;
}

interface Kept {
  readonly find: JWTVerifyGetKey;
  readonly text: string;
  readonly at: number;
}

/** How long keys stay in use while the provider is unavailable. */
const keptMs = 24 * 3_600_000;
const refreshMs = 60_000;
/**
 * The minimum time between two fetches for unknown keys, including failed ones, because anyone can send random key ids.
 */
const unknownKeyMs = 30_000;

/** Creates a key set. `load` fetches the keys, for the first time when a token needs one. */
export function createKeySet(load: () => Promise<JSONWebKeySet>): KeySet {
  let kept: Kept | undefined;
  let fetching: Promise<Kept> | undefined;
  let last: { readonly at: number; readonly trouble?: unknown } = { at: -Infinity };
  let revision = Symbol();

  function fetchKeys(): Promise<Kept> {
    fetching ??= load()
      .then(keep)
      .then(
        (fresh) => {
          last = { at: performance.now() };
          return fresh;
        },
        (trouble: unknown) => {
          last = { at: performance.now(), trouble };
          throw trouble;
        },
      )
      .finally(() => (fetching = undefined));
    return fetching;
  }

  function keep(jwks: JSONWebKeySet): Kept {
    const find = createLocalJWKSet(jwks);
    const text = JSON.stringify(jwks.keys.map((key) => JSON.stringify(key)).sort());
    if (kept?.text !== text) revision = Symbol();
    kept = { find, text, at: performance.now() };
    return kept;
  }

  const findWithin =
    (waitMs: number): JWTVerifyGetKey =>
    async (header, token) => {
      const known = kept !== undefined && performance.now() - kept.at < keptMs ? kept : await fetchKeys();
      try {
        return await known.find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (fetching === undefined && performance.now() - last.at < waitMs) throw last.trouble ?? error;
        return (await fetchKeys()).find(header, token);
      }
    };

  return {
    find: findWithin(unknownKeyMs),
    findTrusted: findWithin(0),
    revision: () => revision,
    refresh() {
      if (kept !== undefined && performance.now() - last.at >= refreshMs) void fetchKeys().catch(() => undefined);
    },
  };
}

/** Fetches the keys at a URI. Rejects with one of jose's errors, or with a TypeError if there is no response. */
export async function fetchKeySet(
  uri: string,
  timeoutMs: number,
  fetching: (url: string, options: RequestInit) => Promise<Response>,
): Promise<JSONWebKeySet> {
  const options = {
    headers: { Accept: "application/json, application/jwk-set+json" },
    signal: AbortSignal.timeout(timeoutMs),
  };
  const response = await fetching(uri, options).catch((error: unknown) => {
    throw error instanceof Error && error.name === "TimeoutError" ? new errors.JWKSTimeout() : error;
  });
  if (response.status !== 200) throw new errors.JOSEError(`the identity provider's keys: status ${response.status}`);
  try {
    return (await response.json()) as JSONWebKeySet;
  } catch (cause) {
    throw new errors.JWKSInvalid("the identity provider's keys are not JSON", { cause });
  }
}
