// Reads one value of a posted form.
import { receiveBytes } from "../../gateway/body.ts";
import type { Request } from "../call/exchange.ts";

const limit = 65_536;

/**
 * Returns the value of a field in an `application/x-www-form-urlencoded` body; undefined if it is missing, the body is
 * too large, or the client has disconnected.
 */
export async function formValue(request: Request, name: string): Promise<string | undefined> {
  const received = await receiveBytes(request, limit);
  if (received === "gone") return undefined;
  if (received !== "too large") return new URLSearchParams(received.toString()).get(name) ?? undefined;
  // Reads and discards the rest, because the connection's next request follows it.
  request.resume();
  return undefined;
}
