// One HTTP request of the doctor: bounded in time and size, without following redirects, with failures in words.
import { boundedFetch } from "../../sign-in/bounded-fetch.ts";
import { reasonOf } from "./reason.ts";

/** A response, read whole. */
export interface TextResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** How long a server outside may take to respond. */
export const waitMs = 4_000;

/** Sends a request. Rejects with an error whose message is the part of a sentence on why there was no response. */
export async function request(url: string, options: RequestInit = {}): Promise<TextResponse> {
  try {
    const response = await boundedFetch(url, { signal: AbortSignal.timeout(waitMs), ...options });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  }
}

/** Requests JSON. Rejects, in the same way, also where the response is another than 200 with JSON. */
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
