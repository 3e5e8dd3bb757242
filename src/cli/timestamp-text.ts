// Formats timestamps for the command line.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";

/** Formats a timestamp in RFC 3339, in UTC with milliseconds, as the interface does. Returns null for undefined. */
export function timestampText(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}
