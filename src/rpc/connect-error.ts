// How a failure is told over Connect and gRPC: code, message, and the details of google.rpc (contract §9).
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { ReasonSchema } from "../gen/records/v1/errors_pb.ts";
import type { Failure, FailureReason } from "../errors.ts";

type Detail = { desc: DescMessage; value: MessageInitShape<DescMessage> };

/** The failure in the terms of the protocol. Only Connect answers by an HTTP status, and so has headers to go with it. */
export function connectError(failure: Failure, protocol: string): ConnectError {
  const { kind, message, reason, violations, retryAfterSeconds } = failure;
  const details: Detail[] = [{ desc: ErrorInfoSchema, value: { reason: reasonName(reason), domain: "records" } }];
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, rule, message: description }) => ({ field, reason: rule, description }));
    details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  if (retryAfterSeconds !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(retryAfterSeconds), nanos: 0 } } });
  }
  const headers: Record<string, string> = {};
  if (protocol === "connect" && retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  if (protocol === "connect" && kind.http === 401) headers["www-authenticate"] = "Bearer";
  return new ConnectError(message, kind.code, headers, details);
}

/** The name of a reason, without the prefix of its enum. */
export function reasonName(reason: FailureReason): string {
  return ReasonSchema.value[reason].name.replace(/^REASON_/, "");
}
