// How the command line shows a timestamp.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";

/** UTC with milliseconds, RFC 3339, as the interface does; null where there is none. */
export function timestampText(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}
