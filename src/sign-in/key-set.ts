// Verifies JWTs by the identity provider's keys, which are cached, refreshed in the background, and fetched for unknown
// keys at a limited rate.
import type { JSONWebKeySet, JWTVerifyOptions, JWTVerifyResult } from "jose";
import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { networkOf } from "../config/address.ts";
import { setBounded } from "../call/bounded-cache.ts";
import { createKnownBuckets } from "../guards/known-buckets.ts";

/** Who sent a token: the provider itself, or a client at an address. */
export type Sender = "provider" | { readonly address: string };

/** Keys that verify signatures. */
export interface KeySet {
  /**
   * Verifies a JWT as jose does. Fetches the keys if they may lack that of the token: always for the provider, and for
   * a client while the limit allows it. Rejects with jose's errors, and with `UndecidedKeyError` above the limit.
   */
  verify(token: string, options: JWTVerifyOptions, sender: Sender): Promise<JWTVerifyResult>;
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

/** The key of a token is unknown, but the provider may have published it since the last fetch. */
export class UndecidedKeyError extends Error {
  override readonly name = "UndecidedKeyError";
}

interface Kept {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly text: string;
  /** When the fetch began, in milliseconds of `performance.now()`. */
  readonly begunAt: number;
}

/** How long keys stay in use while the provider is unavailable. */
const keptMs = 24 * 3_600_000;
const refreshMs = 60_000;
/**
 * The limit of fetches for unknown keys, because anyone can send random key ids. Each fetch also finds the keys that
 * others wait for, so a new key is unknown for at most 10 seconds.
 */
const fetchSize = { rate: 0.1, burst: 5 } as const;
/** The limit for one client network, so that no network can use up the limit of all. */
const networkSize = { rate: 0.05, burst: 2 } as const;

/** Creates a key set. `load` fetches the keys, for the first time when a token needs one. */
export function createKeySet(load: () => Promise<JSONWebKeySet>): KeySet {
  const cache = createKeyCache(load);
  const mayFetch = createFetchLimit();

  /** Verifies a token that arrived at `arrivedAt`. Only keys whose fetch began later show that its key is unknown. */
  async function verifySince(
    arrivedAt: number,
    token: string,
    options: JWTVerifyOptions,
    sender: Sender,
  ): Promise<JWTVerifyResult> {
    const known = cache.kept() ?? (await cache.fetch());
    try {
      return await verifyByAny(token, known.find, options);
    } catch (error) {
      if (known.begunAt >= arrivedAt || !mayBeOfNewKey(error, token)) throw error;
      if (!cache.isFetching()) requireFetch(error, token, sender);
    }
    await cache.fetch();
    return verifySince(arrivedAt, token, options, sender);
  }

  /** Fails unless the keys may be fetched for this token: with `error` if its key is known to be withdrawn. */
  function requireFetch(error: unknown, token: string, sender: Sender): void {
    if (sender === "provider" || mayFetch(sender.address)) return;
    if (cache.hasPublished(decodeProtectedHeader(token).kid)) throw error;
    throw cache.last().trouble ?? new UndecidedKeyError();
  }

  return {
    verify: (token, options, sender) => verifySince(performance.now(), token, options, sender),
    revision: cache.revision,
    refresh() {
      if (cache.kept() !== undefined && performance.now() - cache.last().at >= refreshMs)
        void cache.fetch().catch(() => undefined);
    },
  };
}

/** Creates the cache of the keys. There is one fetch at a time, which all callers wait for. */
function createKeyCache(load: () => Promise<JSONWebKeySet>) {
  let kept: Kept | undefined;
  let fetching: Promise<Kept> | undefined;
  let last: { readonly at: number; readonly trouble?: unknown } = { at: -Infinity };
  let revision = Symbol();
  /** The ids of all keys that the provider has published. */
  const published = new Map<string, true>();

  function keep(jwks: JSONWebKeySet, begunAt: number): Kept {
    const find = createLocalJWKSet(jwks);
    const text = JSON.stringify(jwks.keys.map((key) => JSON.stringify(key)).sort());
    if (kept?.text !== text) revision = Symbol();
    for (const { kid } of jwks.keys) if (typeof kid === "string") setBounded(published, kid, true);
    kept = { find, text, begunAt };
    return kept;
  }

  return {
    /** Returns the keys; undefined if they were never fetched, or too long ago. */
    kept: () => (kept !== undefined && performance.now() - kept.begunAt < keptMs ? kept : undefined),
    revision: () => revision,
    isFetching: () => fetching !== undefined,
    /** Returns when the last fetch ended, and its error. */
    last: () => last,
    hasPublished: (kid: string | undefined) => kid !== undefined && published.has(kid),
    fetch(): Promise<Kept> {
      const begunAt = performance.now();
      fetching ??= load()
        .then((jwks) => keep(jwks, begunAt))
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
    },
  };
}

/**
 * Verifies a JWT by the key that it names. Tries each key of its algorithm if it names none, as tokens do that a
 * provider issued while it had one key (OpenID Connect Core §10.1), or if several keys have that name.
 */
async function verifyByAny(token: string, find: Kept["find"], options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let failed: unknown = error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong;
        failed = wrong;
      }
    }
    throw failed;
  }
}

/** Returns a function that takes a fetch for an unknown key. It returns false if there is none left. */
function createFetchLimit(): (address: string) => boolean {
  const [all, networks] = [createKnownBuckets(fetchSize), createKnownBuckets(networkSize)];
  return (address) => {
    const network = networkOf(address);
    if (networks.wait(network, 1) > 0 || all.wait("", 1) > 0) return false;
    // Both take at once, although they return promises.
    void networks.take(network);
    void all.take("");
    return true;
  };
}

/**
 * Whether a token may be signed by a key that the provider has published since the last fetch. The only key of a
 * provider needs no id (OpenID Connect Core §10.1), so a token without one may be signed by its successor.
 */
function mayBeOfNewKey(error: unknown, token: string): boolean {
  const isUnknown = error instanceof errors.JWKSNoMatchingKey;
  if (!isUnknown && !(error instanceof errors.JWSSignatureVerificationFailed)) return false;
  const kid: unknown = decodeProtectedHeader(token).kid;
  return kid === undefined || (isUnknown && typeof kid === "string");
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
