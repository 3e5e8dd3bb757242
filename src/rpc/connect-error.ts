// Converts failures to errors of Connect and gRPC: code, message, and google.rpc details (contract §9).
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { BadRequest_FieldViolationSchema } from "../gen/google/rpc/error_details_pb.ts";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import type { Failure, Violation } from "../call/errors.ts";
import { failureOf, reasonName, withMore } from "../call/errors.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { sanitizeForEcho } from "../text/text.ts";

/**
 * Limits in bytes as sent, which keep an error below 6.5 KB. gRPC reports a failure only in trailers, and clients
 * accept 8 KiB of these, including the headers. The details repeat the message in UTF-8, and all details are sent in
 * base64.
 */
const maxBytes = { message: 2_000, messageInDetails: 1_000, violations: 2_000, field: 1_000, description: 1_000 };
/** The bytes of a violation without its texts. */
const violationHead = 12;

type Detail = { desc: DescMessage; value: MessageInitShape<DescMessage> };

/** Returns the error for the client, and reports the failure for the log. */
export function reportedError(error: unknown, inbound: Inbound, protocol: string, onError: OnError): ConnectError {
  const failure = failureOf(error);
  observe(inbound, { failed: failure.kind });
  onError(failure, inbound);
  return connectError(failure, protocol);
}

/** Converts a failure to an error of the protocol. Only Connect reports it by an HTTP status, and so adds headers. */
export function connectError(failure: Failure, protocol: string): ConnectError {
  const { kind, reason, violations, retryAfterSeconds, contactId } = failure;
  const metadata: Record<string, string> = contactId === undefined ? {} : { contact_id: contactId };
  const info = { reason: reasonName(reason), domain: "records", metadata };
  const details: Detail[] = [{ desc: ErrorInfoSchema, value: info }];
  if (violations.length > 0) {
    details.push({ desc: BadRequestSchema, value: { fieldViolations: fieldViolationsOf(violations) } });
  }
  if (retryAfterSeconds !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(retryAfterSeconds), nanos: 0 } } });
  }
  const headers: Record<string, string> = {};
  if (protocol === "connect" && retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  if (protocol === "connect" && kind.http === 401) headers["www-authenticate"] = "Bearer";
  const message = cut(failure.message, maxBytes.messageInDetails, Buffer.byteLength);
  return new ConnectError(cut(message, maxBytes.message, percentEncoded), kind.code, headers, details);
}

/** Returns the first violation and as many others as fit. The last one says how many are left out. */
function fieldViolationsOf(
  violations: readonly Violation[],
): MessageInitShape<typeof BadRequest_FieldViolationSchema>[] {
  let size = 0;
  const fitting = violations.filter(({ field, rule, message }, index) => {
    size += Buffer.byteLength(field + rule + message) + violationHead;
    return size <= maxBytes.violations || index === 0;
  });
  const more = violations.length - fitting.length;
  return fitting.map(({ field, rule, message }, at) => {
    const description = cut(message, maxBytes.description, Buffer.byteLength);
    return {
      field: cut(field, maxBytes.field, Buffer.byteLength),
      reason: rule,
      description: more > 0 && at === fitting.length - 1 ? withMore(description, more) : description,
    };
  });
}

function percentEncoded(text: string): number {
  return encodeURIComponent(text).length;
}

/** Makes a text well-formed, and cuts it to a number of bytes. */
function cut(text: string, bytes: number, sizeOf: (text: string) => number): string {
  const sane = sanitizeForEcho(text, bytes);
  let size = 0;
  let end = 0;
  for (const character of sane) {
    size += sizeOf(character);
    if (size > bytes) return `${sane.slice(0, end)}…`;
    end += character.length;
  }
  return sane;
}
