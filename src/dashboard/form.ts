// Reads one value of a posted form.
import type { Request } from "../http/listener.ts";

const limit = 65_536;

/** The value of a name in an `application/x-www-form-urlencoded` body; undefined without it, or where the body is too large. */
export function formValue(request: Request, name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return chunks.push(chunk);
      // The rest is read and thrown away: the next request of the connection comes after it.
      return resolve(undefined);
    });
    request.on("end", () => resolve(new URLSearchParams(Buffer.concat(chunks).toString()).get(name) ?? undefined));
    request.on("close", () => resolve(undefined));
  });
}
