// Writes an entry to an account's audit log when an operator exports the account.
import type { UUID } from "mongodb";
import type { Operator } from "../guards/internal.ts";
import type { AuditStore } from "./store.ts";

/**
 * Returns a function that resolves once the entry is stored. It fails with UNAVAILABLE if the entry cannot be stored.
 */
export function recordExport(
  audit: Pick<AuditStore, "append">,
): (accountId: UUID, operator: Operator) => Promise<void> {
  return (accountId, { caller: { address, requestId, token }, deadline }) => {
    const detail = `Exported by the operator of the service, with the service token ${token}`;
    return audit.append(
      accountId,
      { person: undefined, requestId, address },
      { event: "records_exported", detail },
      deadline(),
    );
  };
}
