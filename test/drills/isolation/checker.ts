// Checks whether a response leaks another account's data, and whether two responses differ only in what was requested.
import type { Operation } from "./operations.ts";
import type { RawResponse } from "./raw.ts";

export interface Findings {
  readonly violations: string[];
  requests: number;
}

const base64 = /[A-Za-z0-9+/_-]{16,}/g;
export const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** The fence around records in a prompt, which is random. */
const fence = /records-[0-9a-f]{32}/g;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** The secrets in a response, as plain text or base64, except those that the request contained. */
export function leaksIn(response: RawResponse | string, secrets: readonly string[], said: unknown): string[] {
  const text =
    typeof response === "string" ? response : [...response.headers, response.body.toString("latin1")].join("\n");
  const all = [text, ...[...text.matchAll(base64)].map(([found]) => Buffer.from(found, "base64").toString("latin1"))]
    .join("\n")
    .toLowerCase();
  const known = JSON.stringify(said).toLowerCase();
  return secrets.filter((secret) => all.includes(secret.toLowerCase()) && !known.includes(secret.toLowerCase()));
}

/**
 * Normalizes a response for comparison: replaces requested values and, in a success, ids and instants, which differ
 * each time.
 */
export function normalized(
  operation: Pick<Operation, "wire" | "textOf">,
  response: RawResponse,
  sent: readonly unknown[],
): string {
  const succeeded = response.status < 300 && !response.headers.some((header) => /^grpc-status: [1-9]/.test(header));
  const body =
    succeeded && operation.textOf !== undefined ? operation.textOf(response) : response.body.toString("latin1");
  // The length of an instant depends on its milliseconds.
  const headers = response.headers.filter(
    (header) => !(succeeded && operation.wire !== "REST" && header.startsWith("content-length:")),
  );
  let text = [response.status, ...headers, body].join("\n");
  for (const one of sent) {
    if (typeof one !== "string") continue;
    text = text
      .replaceAll(one, "<sent>")
      .replaceAll(one.toLowerCase(), "<sent>")
      .replaceAll(one.replace(/^\w+:(\/\/)?/, "").toLowerCase(), "<sent>");
  }
  return succeeded ? text.replace(uuid, "<id>").replace(instant, "<instant>").replace(fence, "<fence>") : text;
}

/** Shows where two texts start to differ. */
export function difference(first: string, second: string): string {
  let at = 0;
  while (at < first.length && first[at] === second[at]) at++;
  const from = Math.max(0, at - 40);
  return `${JSON.stringify(first.slice(from, at + 80))} against ${JSON.stringify(second.slice(from, at + 80))}`;
}
