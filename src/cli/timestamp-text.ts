// Formats timestamps for the command line.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Output } from "./output.ts";

/** Formats a timestamp in RFC 3339, in UTC with milliseconds, as the interface does. Returns null for undefined. */
export function timestampText(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}

/** Formats a timestamp for people, as `output.time` does. Returns an empty text for undefined. */
export function timestampCell(timestamp: Timestamp | undefined, output: Output): string {
  const text = timestampText(timestamp);
  return text === null ? "" : output.time(text);
}
