// Reads one value of a posted form.
import type { Request } from "../http/listener.ts";

const limit = 65_536;

/** The value of a name in an `application/x-www-form-urlencoded` body; undefined without it, or where the body is too large. */
export async function formValue(request: Request, name: string): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > limit) return undefined;
    chunks.push(chunk as Buffer);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString()).get(name) ?? undefined;
}
