// Checks the flags in the envelopes of messages, most of which the library ignores.
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import type { Request } from "../call/exchange.ts";
import { envelopeHead, isEnveloped, isGrpc } from "./protocol.ts";

const flagsErrors = new WeakSet();

/** Returns the error of an envelope. gRPC requires INTERNAL, although it is the client's fault. */
function flagsError(problem: string): ConnectError {
  const error = new ConnectError(`the flags of the message's envelope ${problem}`, Code.Internal);
  flagsErrors.add(error);
  return error;
}

/** Whether an error is that of an envelope. */
export function isFlagsError(error: unknown): boolean {
  return error instanceof ConnectError && flagsErrors.has(error);
}

/**
 * Returns the error of the first envelope of a body. It may only be marked as compressed, and only if the request names
 * a compression.
 */
export function flagsErrorOf(request: Request, [flags = 0]: Uint8Array): ConnectError | undefined {
  if (flags === 0 || !isEnveloped(request)) return undefined;
  if (flags !== compressedFlag) return flagsError("must be 0, or 1 if it is compressed");
  const encoding = request.headers[isGrpc(request) ? "grpc-encoding" : "connect-content-encoding"] ?? "";
  return encoding === "" || encoding === "identity"
    ? flagsError("say that it is compressed, but the request names no compression")
    : undefined;
}

/** Creates a check of a body that arrives in chunks. It throws the error of an envelope. */
export function createFlagsCheck(request: Request): (chunk: Uint8Array) => void {
  const head = Buffer.alloc(envelopeHead);
  let [headBytes, messageBytes] = [0, 0];
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (messageBytes > 0) {
        const passed = Math.min(messageBytes, chunk.length - at);
        messageBytes -= passed;
        at += passed;
        continue;
      }
      head[headBytes++] = chunk[at++] ?? 0;
      if (headBytes < envelopeHead) continue;
      const error = flagsErrorOf(request, head);
      if (error !== undefined) throw error;
      messageBytes = head.readUInt32BE(1);
      headBytes = 0;
    }
  };
}
