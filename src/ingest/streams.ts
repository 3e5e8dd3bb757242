// Streaming RPCs of records.ingest.v1.IngestService: Import and Export.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { UUID } from "mongodb";
import type { ExportRequest, ImportRequest } from "../gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../gen/records/ingest/v1/ingest_pb.ts";
import type { Operator } from "../guards/internal.ts";
import { readScope } from "../call/scope.ts";
import type { StreamHandler } from "../guards/stream.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { Export } from "./export.ts";
import type { Import } from "./import.ts";

/** Writes an entry to the audit log when an operator exports an account. Nothing is sent before it resolves. */
export type OnExport = (accountId: UUID, operator: Operator) => Promise<void>;

/** Returns the handlers by RPC. */
export function createIngestStreams(
  importRecords: Import,
  exportRecords: Export,
  onExport: OnExport,
): ReadonlyMap<DescMethod, StreamHandler> {
  return new Map<DescMethod, StreamHandler>([
    [
      IngestService.method.import,
      (messages, operator) =>
        importRecords(messages as AsyncIterable<ImportRequest>, (accountId) => operator.scopeFor(accountId)),
    ],
    [
      IngestService.method.export,
      async function* (messages: AsyncIterable<Message>, operator) {
        for await (const message of messages) {
          const { accountId: id, ...rest } = message as ExportRequest;
          requireAllRead(rest);
          const { accountId } = await operator.scopeFor(id);
          await onExport(accountId, operator);
          yield* exportRecords(() => readScope(accountId, operator.deadline()));
          // Fails if the account was deleted meanwhile, because the export is then incomplete.
          await operator.scopeFor(id);
        }
      },
    ],
  ]);
}
