// Reports why requests fail: a short cause on the request's log line, and separate lines for errors and rejected
// sign-ins.
import type { Logger } from "pino";
import { Failure, isForTheLog, isForTheProvider, isWarning, reasonName } from "../call/errors.ts";
import { loggedError } from "../log/logged-error.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { waitOf } from "../call/tally.ts";

/**
 * Returns a callback that logs failed requests. A 5xx response, which is not the caller's fault, gets its cause on its
 * log line, and so does a rejected back-channel logout.
 */
export function reportFailures(log: Logger): OnError {
  return (failure, inbound) => {
    if (failure.kind.http >= 500) observe(inbound, causeOf(failure, inbound));
    else if (isForTheProvider(failure) && failure.because !== undefined) observe(inbound, { cause: failure.because });
    if (isForTheLog(failure))
      log.error(
        { id: inbound.requestId, reason: reasonName(failure.reason), err: failure.cause ?? failure },
        "request failed",
      );
    else if (isWarning(failure)) log.warn({ id: inbound.requestId, err: failure.cause }, "sign-in failed");
  };
}

/** Returns the class and codes of the error, or the service's own reason, but never a message. */
function causeOf(
  failure: Failure,
  inbound: Inbound,
): Pick<NonNullable<Inbound["observation"]>, "cause" | "waitingFor"> {
  const { cause, reason, because, waitingFor } = failure;
  if (cause instanceof Failure) return causeOf(cause, inbound);
  if (cause === undefined)
    return { cause: because ?? reasonName(reason), ...(waitingFor === undefined ? {} : { waitingFor }) };
  const { type, code, code_name: name, oauth_error, status } = loggedError(cause);
  // An error that ends a wait for a database or a provider becomes a 503. A request with a 500 waited for nothing.
  const waited = failure.kind.http === 500 ? undefined : (waitingFor ?? waitOf(inbound.tally));
  return {
    cause: [type, code, name, oauth_error, status].filter((part) => part !== undefined).join(" "),
    ...(waited === undefined ? {} : { waitingFor: waited }),
  };
}
