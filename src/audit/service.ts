// records.v1.AuditService: shows an account's owner the audit log.
import type { AuditEntry, AuditService as Descriptor } from "../gen/records/v1/audit_pb.ts";
import { AuditEvent } from "../gen/records/v1/audit_pb.ts";
import { present, timestamp } from "../db/message.ts";
import { cutPage } from "../db/page.ts";
import type { OwnerService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { AuditDocument, AuditFact, AuditStore } from "./store.ts";

const events: Readonly<Record<AuditFact["event"], AuditEvent>> = {
  signed_in: AuditEvent.SIGNED_IN,
  signed_out: AuditEvent.SIGNED_OUT,
  key_created: AuditEvent.KEY_CREATED,
  key_rotated: AuditEvent.KEY_ROTATED,
  key_revoked: AuditEvent.KEY_REVOKED,
  key_refused: AuditEvent.KEY_REFUSED,
  tool_called: AuditEvent.TOOL_CALLED,
  account_suspended: AuditEvent.ACCOUNT_SUSPENDED,
  account_resumed: AuditEvent.ACCOUNT_RESUMED,
  sessions_ended: AuditEvent.SESSIONS_ENDED,
  records_exported: AuditEvent.RECORDS_EXPORTED,
};
const eventOf = new Map<string, AuditEvent>(Object.entries(events));

/** The service over its store. The guard has set the defaults of `limit` and `offset`. */
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
    event: eventOf.get(event) ?? AuditEvent.OTHER,
    ...present({ detail, keyPrefix: key_prefix, person }),
    requestId: request_id,
    address,
  };
}
