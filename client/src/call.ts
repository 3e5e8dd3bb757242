// Sends one operation over HTTP, again where that is safe, within the time that the call has.
import { readResponse } from "./response.ts";
import { pause } from "./clock.ts";
import { RecordsError } from "./error.ts";
import type { RecordsClientOptions } from "./options.ts";
import { readOptions, readTimeout } from "./options.ts";
import type { Repeatable } from "./retry.ts";
import { delayAfter, isRetryable } from "./retry.ts";
import type { ResponseBody, Input, MethodOf, OperationOf, Path } from "./types.ts";

/** What every call takes beside its own parameters. */
export interface CallOptions {
  /** Ends the call, also while it waits; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for this call with all its attempts, in place of the client's. */
  readonly timeout?: number | undefined;
}

/** How the operation is to be sent. */
interface Sending extends CallOptions {
  readonly repeatable: Repeatable;
  readonly idempotencyKey?: string | undefined;
}

/** Sends an operation and returns the body of its success. Rejects with a RecordsError. */
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

/** The calls of one client. The key lives in this closure alone, where neither an inspection nor JSON finds it. */
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
        // Made here, so that a header which cannot be sent is a mistake of the caller and not of the network.
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
        // No use in waiting for an attempt that has no time left.
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
    // AbortSignal.any would keep something of every attempt as long as the caller's signal lives.
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
    // An address with these would be another one.
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
