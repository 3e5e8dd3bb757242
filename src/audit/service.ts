// records.v1.AuditService: returns an account's audit log to its owner.
import type { AuditEntry, AuditService as Descriptor } from "../gen/records/v1/audit_pb.ts";
import { AuditEntrySchema, AuditEvent } from "../gen/records/v1/audit_pb.ts";
import { omitNulls, timestamp } from "../db/message.ts";
import { cutPage } from "../db/page.ts";
import type { OnTrouble } from "../db/run-periodically.ts";
import { readableMessage } from "../guards/representable.ts";
import type { OwnerService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { AuditDocument, AuditStore } from "./store.ts";

/**
 * Creates the service. The guard has already set the defaults of `limit` and `offset`. `onTrouble` is called when a
 * page leaves out entries that cannot be read.
 */
export function createAuditService(audit: AuditStore, onTrouble: OnTrouble): OwnerService<typeof Descriptor> {
  return {
    async listAuditEntries({ limit = 0, offset = 0, ...rest }, { accountId, deadline }) {
      requireAllRead(rest);
      const { rows, pagination } = cutPage(await audit.list(accountId, { limit, offset }, deadline), { limit, offset });
      const entries = rows.flatMap((row) => readableMessage(AuditEntrySchema, () => entryMessage(row)) ?? []);
      const left = rows.length - entries.length;
      if (left > 0) onTrouble("audit log entries cannot be read", new Error(`${left} of ${rows.length} entries`));
      return { $typeName: "records.v1.ListAuditEntriesResponse", entries, pagination };
    },
  };
}

/** Returns the message of a stored entry. */
export function entryMessage({
  _id,
  created_at,
  event,
  detail,
  key_prefix,
  person,
  request_id,
  address,
}: AuditDocument): AuditEntry {
  return {
    $typeName: "records.v1.AuditEntry",
    id: _id.toHexString(),
    createdAt: timestamp(created_at),
    event: AuditEvent[event.toUpperCase() as keyof typeof AuditEvent] ?? AuditEvent.OTHER,
    ...omitNulls({ detail, keyPrefix: key_prefix, person }),
    requestId: request_id,
    address,
  };
}
