// Options of a client: their defaults and their validation.
import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";

/** Options of a client. Times are in milliseconds. */
export interface RecordsClientOptions {
  /** The address of the service, such as `https://records.example.com`. */
  readonly baseUrl: string;
  /** The API key. Required, except for `health`. */
  readonly apiKey?: string | undefined;
  /** The maximum number of attempts, including the first. The default is 10, which outlasts an election in MongoDB. */
  readonly maxAttempts?: number | undefined;
  /** The time limit of a call with all its attempts and waits. The default is 30,000. */
  readonly timeout?: number | undefined;
  /** The time limit of one attempt. The default is 10,000, twice the service's own limit. */
  readonly attemptTimeout?: number | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Replaces the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Replaces `Math.random` for the jitter. */
  readonly random?: (() => number) | undefined;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The options with the defaults filled in. */
export type Settings = {
  readonly [Name in keyof RecordsClientOptions]-?: Name extends "apiKey"
    ? string | undefined
    : NonNullable<RecordsClientOptions[Name]>;
};

/**
 * Validates the options and fills in the defaults. Throws a TypeError that names the invalid option, and never contains
 * the key.
 */
export function readOptions(options: RecordsClientOptions): Settings {
  const { maxAttempts = 10, timeout = 30_000, attemptTimeout = 10_000, apiKey } = options;
  if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey))
    throw new TypeError("apiKey: must be the API key as the dashboard showed it, without spaces or line breaks");
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
    throw new TypeError("maxAttempts: must be a whole number of at least 1");
  return {
    baseUrl: baseUrlOf(options.baseUrl),
    apiKey,
    maxAttempts,
    timeout: readTimeout("timeout", timeout),
    attemptTimeout: readTimeout("attemptTimeout", attemptTimeout),
    // Called through the global each time, because a browser's fetch requires the global object as `this`.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** Returns a time that timers support. Throws a TypeError for any other. */
export function readTimeout(name: string, milliseconds: number): number {
  if (milliseconds > 0 && milliseconds < 2 ** 31) return milliseconds;
  throw new TypeError(`${name}: must be a number of milliseconds above 0 and below 2147483648`);
}

function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError("baseUrl: must be an http or https address, such as https://records.example.com");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new TypeError("baseUrl: must not have a user, password, query or fragment");
  return url.href.replace(/(?<!\/)\/+$/, "");
}
