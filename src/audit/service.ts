// records.v1.AuditService: returns an account's audit log to its owner.
import type { AuditEntry, AuditService as Descriptor } from "../gen/records/v1/audit_pb.ts";
import { AuditEvent } from "../gen/records/v1/audit_pb.ts";
import { omitNulls, timestamp } from "../db/message.ts";
import { cutPage } from "../db/page.ts";
import type { OwnerService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { AuditDocument, AuditStore } from "./store.ts";

/** Creates the service. The guard has already set the defaults of `limit` and `offset`. */
export function createAuditService(audit: AuditStore): OwnerService<typeof Descriptor> {
  return {
    async listAuditEntries({ limit = 0, offset = 0, ...rest }, { accountId, deadline }) {
      requireAllRead(rest);
      const { rows, pagination } = cutPage(await audit.list(accountId, { limit, offset }, deadline), { limit, offset });
      return { $typeName: "records.v1.ListAuditEntriesResponse", entries: rows.map(entryMessage), pagination };
    },
  };
}

function entryMessage({
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
