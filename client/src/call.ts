// Sends one operation over HTTP, and retries it if that is safe, within the time limit of the call.
import { readResponse } from "./response.ts";
import { pause } from "./clock.ts";
import { RecordsError } from "./error.ts";
import type { RecordsClientOptions } from "./options.ts";
import { readOptions, readTimeout } from "./options.ts";
import type { Repeatable } from "./retry.ts";
import { delayAfter, isRetryable } from "./retry.ts";
import type { ResponseBody, Input, MethodOf, OperationOf, Path } from "./types.ts";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, even while it waits between attempts. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit of this call with all its attempts, in milliseconds. Overrides the client's `timeout`. */
  readonly timeout?: number | undefined;
}

/** Options of one operation. */
interface Sending extends CallOptions {
  readonly repeatable: Repeatable;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Sends an operation and returns the body of the successful response. Rejects with a RecordsError, with the reason of
 * the caller's signal, or with a TypeError for an invalid argument.
 */
export type Call = <P extends Path, M extends MethodOf<P>>(
  method: M,
  path: P,
  input: Input<OperationOf<P, M>>,
  sending: Sending,
) => Promise<ResponseBody<OperationOf<P, M>>>;

interface Request {
  readonly url: string;
  readonly init: RequestInit;
}

/**
 * Creates the function that sends a client's operations. Only this closure holds the key, so neither inspection nor
 * JSON reveals it. Throws a TypeError if an option is invalid.
 */
export function createCall(options: RecordsClientOptions): Call {
  const {
    baseUrl,
    apiKey,
    maxAttempts,
    timeout: usualTimeout,
    attemptTimeout,
    fetch,
    clock,
    random,
  } = readOptions(options);

  return async (method, path, input, { signal, timeout = usualTimeout, repeatable, idempotencyKey }) => {
    const headers: Record<string, string> = {};
    if (apiKey !== undefined) headers["Authorization"] = `Bearer ${apiKey}`;
    if (input.body !== undefined) headers["Content-Type"] = "application/json";
    if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
    const request: Request = {
      url: baseUrl + filled(path, input.path ?? {}) + queryString(input.query ?? {}),
      init: {
        method: method.toUpperCase(),
        // Created before the first attempt, so that an invalid header throws a TypeError instead of a network error.
        headers: new Headers(headers),
        redirect: "manual",
        credentials: "omit",
        ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
      },
    };
    const end = clock.now() + readTimeout("timeout", timeout);
    for (let attempt = 1; ; attempt++) {
      try {
        return (await sendOnce(request, Math.min(attemptTimeout, end - clock.now()), signal)) as ResponseBody<
          OperationOf<typeof path, typeof method>
        >;
      } catch (error) {
        if (!(error instanceof RecordsError) || attempt === maxAttempts || !isRetryable(error, repeatable)) throw error;
        const delay = delayAfter(attempt, error, random);
        // The next attempt would have no time left.
        if (clock.now() + delay >= end) throw error;
        await pause(clock, delay, signal);
      }
    }
  };

  async function sendOnce(
    { url, init }: Request,
    milliseconds: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    // AbortSignal.any would retain memory for every attempt as long as the caller's signal exists.
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    signal?.addEventListener("abort", abort);
    let timedOut = false;
    const cancel = clock.after(milliseconds, () => {
      timedOut = true;
      attempt.abort();
    });
    try {
      return await readResponse(await fetch(url, { ...init, signal: attempt.signal }));
    } catch (error) {
      if (error instanceof RecordsError) throw error;
      signal?.throwIfAborted();
      if (timedOut)
        throw new RecordsError(`No response arrived within ${Math.round(milliseconds)} ms.`, { code: "timeout" });
      throw new RecordsError(`${baseUrl} cannot be reached, or the connection was lost.`, {
        code: "unreachable",
        cause: error,
      });
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  }
}

function filled(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    // With one of these values, the URL would have a different path.
    if (["", ".", ".."].includes(value)) throw new TypeError(`${name}: must be the id of a record`);
    return encodeURIComponent(value);
  });
}

function queryString(query: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) given.set(name, String(value));
  return given.size === 0 ? "" : `?${given}`;
}
