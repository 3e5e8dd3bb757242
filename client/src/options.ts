// What a client is made with, checked.
import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";

/** Settings of a client. Times are in milliseconds. */
export interface RecordsClientOptions {
  /** Where the service is, such as `https://records.example.com`. */
  readonly baseUrl: string;
  /** The API key. Only `health` can do without. */
  readonly apiKey?: string | undefined;
  /**
   * How often a request is sent at most, the first time included; 10 by default, which outlasts an election of MongoDB.
   */
  readonly maxAttempts?: number | undefined;
  /** How long a call may take with all its attempts and waits; 30,000 by default. */
  readonly timeout?: number | undefined;
  /** How long one attempt may take; 10,000 by default, twice what the service takes at most. */
  readonly attemptTimeout?: number | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** In place of the machine's clock. */
  readonly clock?: Clock | undefined;
  /** In place of `Math.random`, for the jitter. */
  readonly random?: (() => number) | undefined;
}

/** As much of `fetch` as is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The settings with the defaults filled in. */
export type Settings = {
  readonly [Name in keyof RecordsClientOptions]-?: Name extends "apiKey"
    ? string | undefined
    : NonNullable<RecordsClientOptions[Name]>;
};

/** Throws a TypeError that names the option at fault; never with the key in it. */
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
    // Called through the global each time: a browser's fetch wants no other `this`.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** A time that a timer can keep. */
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
