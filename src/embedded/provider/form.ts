// Reads the forms that users send.
import type { IncomingMessage } from "node:http";
import { readMediaType } from "../../call/negotiation.ts";

const LIMIT = 64 * 1_024;

/** The fields of the form; a status where there is none: 413 where it is too long, 415 where it is something else. */
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
