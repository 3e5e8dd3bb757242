// Reports each rejection of the service once, with its line in the file, and then acknowledges it.
import type { ImportResponse, Rejection } from "../../gen/records/ingest/v1/import_pb.ts";
import { ReasonSchema } from "../../gen/records/v1/errors_pb.ts";
import type { Reject, Rejects } from "./rejects.ts";
import type { Origin, Window } from "./window.ts";

/**
 * Creates the rejections of an import, over all its streams. `reject` receives each of them, and may throw to end the
 * import. They are acknowledged once `isSaved` returns true.
 */
export function createRejections(
  originOf: Window["originOf"],
  reject: (one: Reject) => void,
  isSaved: Rejects["isSaved"],
) {
  /** Rejections of an earlier run whose lines are not read yet, in the order of their positions. */
  const unread = new Map<number, Rejection>();
  /** Every rejection before this position was received. A response contains the next ones, in any order. */
  let receivedTo = 0;
  let savedTo = 0;

  return {
    /** Reports the rejections of a response, except those that an earlier response had. */
    receive({ rejections }: Pick<ImportResponse, "rejections">): void {
      const before = receivedTo;
      for (const rejection of rejections) {
        const position = Number(rejection.position);
        if (position < before) continue;
        const origin = originOf(position);
        if (origin === "ahead") unread.set(position, rejection);
        else reject(rejectOf(rejection, origin));
        receivedTo = Math.max(receivedTo, position + 1);
      }
    },
    /** Reports the rejection of the record at this position, if the service sent it before the record was read. */
    name(position: number, origin: Origin): void {
      const rejection = unread.get(position);
      if (rejection === undefined) return;
      reject(rejectOf(rejection, origin));
      unread.delete(position);
    },
    /** Returns the position before which every rejection is reported and, with --rejects, saved. */
    acknowledged(): number {
      if (isSaved()) savedTo = unread.keys().next().value ?? receivedTo;
      return savedTo;
    },
  };
}

function rejectOf({ error }: Rejection, { line, input }: Partial<Origin> = {}): Reject {
  return {
    line: line ?? null,
    reason: ReasonSchema.value[error?.reason ?? 0]?.name.replace(/^REASON_/, "") ?? "UNSPECIFIED",
    message: error?.message ?? "",
    contact_id: error?.contactId,
    input,
  };
}
