// HTTP requests of the doctor, limited in time and size, without redirects, and with errors in words for the user.
import { boundedFetch } from "../../sign-in/bounded-fetch.ts";
import { reasonOf } from "./reason.ts";

/** A complete response. */
export type TextResponse = Awaited<ReturnType<typeof request>>;

/** How long a remote server may take to respond. */
export const waitMs = 4_000;

/** Fetches with our limits of time and size. */
export function timedFetch(url: string | URL, options: RequestInit = {}): Promise<Response> {
  return boundedFetch(String(url), { signal: AbortSignal.timeout(waitMs), ...options });
}

/** Sends a request. Rejects with an error whose message completes a sentence about why there is no response. */
export async function request(url: string, options: RequestInit = {}) {
  try {
    const response = await timedFetch(url, options);
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  }
}

/** Requests JSON. Rejects as `request` does, and also if the response is not 200 with JSON. */
export async function getJson(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ readonly body: unknown; readonly headers: Headers }> {
  const received = await request(url, { headers: { Accept: "application/json", ...headers } });
  const { status, text } = received;
  if (status >= 300 && status < 400)
    throw new Error(`it redirects to ${received.headers.get("location") ?? "nowhere"}`);
  if (status !== 200) throw new Error(`it returns ${status}`);
  try {
    return { body: JSON.parse(text) as unknown, headers: received.headers };
  } catch {
    throw new Error(`its response is not JSON: it begins with ${JSON.stringify(text.slice(0, 40))}`);
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
