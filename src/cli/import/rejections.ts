// The rejections that the service reports: each is named once, by its line in the file, and then acknowledged.
import type { ImportResponse, Rejection } from "../../gen/records/ingest/v1/import_pb.ts";
import { ReasonSchema } from "../../gen/records/v1/errors_pb.ts";
import type { Reject, Rejects } from "./rejects.ts";
import type { Origin, Window } from "./window.ts";

/** The rejections of an import, over all its streams. */
export interface Rejections {
  /** Names those of a response. A later stream may repeat them. */
  receive(response: Pick<ImportResponse, "rejections">): void;
  /** Names the record at this position, if the service has reported it before it was read. */
  name(position: number, origin: Origin): void;
  /** Every rejection before this position is named, and saved where it is to be saved. */
  acknowledged(): number;
}

/** Rejections that `reject` gets; it may throw, to end the import. They are acknowledged once they are saved. */
export function createRejections(
  originOf: Window["originOf"],
  reject: (one: Reject) => void,
  isSaved: Rejects["isSaved"],
): Rejections {
  /** Those of an earlier run, whose lines are not read yet, in the order of their positions. */
  const unread = new Map<number, Rejection>();
  /** Every rejection before it was received. A response has those from the end of the last one, in any order. */
  let receivedTo = 0;
  let savedTo = 0;

  return {
    receive({ rejections }) {
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
    name(position, origin) {
      const rejection = unread.get(position);
      if (rejection === undefined) return;
      reject(rejectOf(rejection, origin));
      unread.delete(position);
    },
    acknowledged() {
      if (isSaved()) [savedTo = receivedTo] = unread.keys();
      return savedTo;
    },
  };
}

function rejectOf({ error }: Rejection, { line, input }: Partial<Origin> = {}): Reject {
  return {
    line: line ?? null,
    reason: ReasonSchema.value[error?.reason ?? 0]?.name.replace(/^REASON_/, "") ?? "UNSPECIFIED",
    message: error?.message ?? "",
    input,
  };
}
