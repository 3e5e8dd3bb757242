// Reads one value of a posted form.
import { receiveBytes } from "../http/body.ts";
import type { Request } from "../call/exchange.ts";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";

/** The maximum size of a form in bytes. A logout token has 1 to 2 KB, and no other form is as large. */
const maxBytes = 16_384;
/** The maximum time in which a form arrives, in milliseconds: less than the deadline, to serve the request in time. */
const maxArrivalMs = 4_000;

/**
 * Returns the value of a field in an `application/x-www-form-urlencoded` body; undefined if it is missing or the body
 * is too large. Fails with REQUEST_TIMEOUT if the body does not arrive in time, and with CANCELLED if the client
 * disconnects.
 */
export async function formValue(request: Request, name: string): Promise<string | undefined> {
  const received = await receiveBytes(request, maxBytes, undefined, maxArrivalMs);
  if (received === "gone") fail(Reason.CANCELLED);
  if (received === "too slow") fail(Reason.REQUEST_TIMEOUT);
  if (received !== "too large") return new URLSearchParams(received.toString()).get(name) ?? undefined;
  // Reads and discards the rest, because the connection's next request follows it.
  request.resume();
  return undefined;
}
