// Rejects a request by its headers alone, in the terms of its protocol, and closes its connection or stream.
import { writeAndClose, writeFailureAndClose } from "../http/linger.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Request, Response } from "../call/exchange.ts";
import type { Failure } from "../call/errors.ts";
import { spokenBy, writeCallFailure } from "../rpc/early-rejection.ts";

/** A started request, and whether its path is that of an rpc. */
export interface StartedRequest {
  readonly inbound: Inbound;
  readonly isRpc: boolean;
}

/** Rejects a request and closes its connection, because the start of the next request is uncertain or not awaited. */
export function reject(
  request: Request,
  response: Response,
  failure: Failure,
  { inbound, isRpc }: StartedRequest,
): void {
  const protocol = isRpc ? spokenBy(request) : undefined;
  if (protocol === undefined) return writeFailureAndClose(request, response, failure);
  writeAndClose(request, response, () => writeCallFailure(protocol, request, response, failure, inbound));
}
