// Reads one value of a posted form.
import { receiveBytes } from "../../gateway/body.ts";
import type { Request } from "../call/exchange.ts";

const limit = 65_536;

/**
 * The value of a name in an `application/x-www-form-urlencoded` body; undefined without it, or where the body is too
 * large.
 */
export async function formValue(request: Request, name: string): Promise<string | undefined> {
  const received = await receiveBytes(request, limit);
  if (received === "gone") return undefined;
  if (received !== "too large") return new URLSearchParams(received.toString()).get(name) ?? undefined;
  // The rest is read and thrown away: the next request of the connection comes after it.
  request.resume();
  return undefined;
}
