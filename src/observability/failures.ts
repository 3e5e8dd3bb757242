// Why a request failed: a word on its line in the log, and a line of its own for what an error caused.
import type { Logger } from "pino";
import { Failure, isForTheLog, isWarning, reasonName } from "../errors.ts";
import { loggedError } from "../logged-error.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { waitOf } from "../tally.ts";

/** Reports failed requests to the log. A request that is not at fault itself (5xx) has its cause on its line. */
export function reportFailures(log: Logger): OnError {
  return (failure, inbound) => {
    if (failure.kind.http >= 500) observe(inbound, causeOf(failure, inbound));
    if (isForTheLog(failure))
      log.error(
        { id: inbound.requestId, reason: reasonName(failure.reason), err: failure.cause ?? failure },
        "request failed",
      );
    else if (isWarning(failure)) log.warn({ id: inbound.requestId, err: failure.cause }, "sign-in failed");
  };
}

/** The class and codes of the error, or what we ourselves know; never a message. */
function causeOf(
  failure: Failure,
  inbound: Inbound,
): Pick<NonNullable<Inbound["observation"]>, "cause" | "waitingFor"> {
  const { cause, reason, because, waitingFor } = failure;
  if (cause instanceof Failure) return causeOf(cause, inbound);
  if (cause === undefined)
    return { cause: because ?? reasonName(reason), ...(waitingFor === undefined ? {} : { waitingFor }) };
  const { type, code, code_name: name } = loggedError(cause);
  // An error that ends a wait for a database or a provider makes the request 503; a 500 waited for nothing.
  const waited = failure.kind.http === 500 ? undefined : (waitingFor ?? waitOf(inbound.tally));
  return {
    cause: [type, code, name].filter((part) => part !== undefined).join(" "),
    ...(waited === undefined ? {} : { waitingFor: waited }),
  };
}
