// Reads form submissions.
import type { IncomingMessage } from "node:http";
import { readMediaType } from "../../call/negotiation.ts";

const LIMIT = 64 * 1_024;

/** Returns the fields of the form, or a status if it is rejected: 413 if it is too long, 415 if it is not a form. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | 413 | 415> {
  if (readMediaType(request.headers["content-type"])?.type !== "application/x-www-form-urlencoded") return 415;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length;
    if (length > LIMIT) return 413;
    chunks.push(chunk as Buffer);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
