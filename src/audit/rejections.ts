// Records an owner's rejected changes of credentials (403, 404, 409) in the account's audit log.
import { deadlineIn, withDeadline } from "../call/deadline.ts";
import type { Failure } from "../call/errors.ts";
import { failureOf } from "../call/errors.ts";
import type { Call, Caller } from "../guards/call.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { AuditStore } from "./store.ts";

/** The maximum time for which a rejection waits for its audit entry. It is sent even without one. */
const waitMs = 1_000;
const rejected = new Set([403, 404, 409]);

/** Returns the hook of the public access policy. `onError` receives the error if an entry cannot be written. */
export function recordRejections(
  audit: AuditStore,
  onError: (failure: Failure, inbound: Inbound) => void,
): (call: Call, caller: Caller, failure: Failure) => Promise<void> {
  return async ({ rpc, writes, inbound }, caller, { kind, message }) => {
    if (!writes || caller.kind !== "user" || caller.user.account === undefined || !rejected.has(kind.http)) return;
    const { account, name } = caller.user;
    const { requestId, address } = inbound;
    const detail = `${rpc.name.replace("ApiKey", "")}: ${message}`;
    try {
      const deadline = deadlineIn(waitMs);
      await withDeadline(
        deadline,
        audit.append(account.id, { person: name, requestId, address }, { event: "key_refused", detail }, deadline),
      );
    } catch (error) {
      onError(failureOf(error), inbound);
    }
  };
}
