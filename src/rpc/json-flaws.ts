// Violations in JSON that the library accepts: bytes that are not UTF-8, and days that do not exist.
import { isUtf8 } from "node:buffer";
import type { DescMessage } from "@bufbuild/protobuf";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { timesThatDoNotExist } from "../../gateway/timestamps.ts";
import type { Violation } from "../errors.ts";
import type { Request } from "../call/exchange.ts";
import { gzip } from "./gzip.ts";
import type { Protocol } from "./protocol.ts";
import { envelopeHead } from "./protocol.ts";

/** Finds violations in a body that the library has decoded. */
export type JsonFlaws = (protocol: Protocol, request: Request, body: Buffer) => Promise<readonly Violation[]>;

const none: readonly Violation[] = [];

/**
 * The check for an rpc's messages. The library replaces bytes that are not UTF-8 by U+FFFD, and reads 30 February as 2
 * March.
 */
export function createJsonFlaws(input: DescMessage, maxBytes: number): JsonFlaws {
  const hasTimes = holdsTimes(input, new Set());
  return async (protocol, { headers }, body) => {
    if (body.length === 0 || headers["content-type"]?.toLowerCase().includes("json") !== true) return none;
    const data = protocol === "connect" ? body : body.subarray(envelopeHead);
    const isCompressed =
      protocol === "connect" ? headers["content-encoding"] === gzip.name : ((body[0] ?? 0) & compressedFlag) !== 0;
    const bytes = isCompressed ? Buffer.from(await gzip.decompress(data, maxBytes)) : data;
    if (!isUtf8(bytes)) return [{ field: "", rule: "utf8", message: "the message must be UTF-8" }];
    if (!hasTimes) return none;
    const message = "must be a date-time that exists, such as 2026-01-31T09:30:00Z";
    return timesThatDoNotExist(input, bytes.toString()).map((field) => ({ field, rule: "timestamp", message }));
  };
}

function holdsTimes(message: DescMessage, seen: Set<DescMessage>): boolean {
  if (message.typeName === "google.protobuf.Timestamp") return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => field.message !== undefined && holdsTimes(field.message, seen));
}
