// Implements records.admin.v1.BackupService, which reads and restores the stored documents of an account.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { UUID } from "mongodb";
import { uuid } from "../db/mongo.ts";
import type { BackupService as Descriptor, ReadDocumentsRequest } from "../gen/records/admin/v1/backup_pb.ts";
import { BackupService } from "../gen/records/admin/v1/backup_pb.ts";
import type { Operator } from "../guards/internal.ts";
import type { StreamHandler } from "../guards/stream.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { ReadDocuments } from "./read.ts";
import type { Restore } from "./restore.ts";

/** Creates the unary methods of the service. */
export function createBackupService(restore: Restore): OperatorService<typeof Descriptor> {
  return {
    async restoreDocuments({ backupId: backup, accountId: id, documents, checkOnly, ...rest }, operator) {
      requireAllRead(rest);
      const restoring = { backup, accountId: id === "" ? undefined : uuid(id), deadline: operator.deadline() };
      const state = await (checkOnly ? restore.check : restore.write)(restoring, documents);
      return { $typeName: "records.admin.v1.RestoreDocumentsResponse", ...state };
    },
  };
}

/** Creates the streaming methods of the service. No document of an account is sent before `onRead` resolves. */
export function createBackupStreams(
  readDocuments: ReadDocuments,
  onRead: (accountId: UUID, operator: Operator) => Promise<void>,
): ReadonlyMap<DescMethod, StreamHandler> {
  return new Map<DescMethod, StreamHandler>([
    [
      BackupService.method.readDocuments,
      async function* (messages: AsyncIterable<Message>, operator) {
        for await (const message of messages) {
          const { accountId: id, ...rest } = message as ReadDocumentsRequest;
          requireAllRead(rest);
          const accountId = id === "" ? undefined : (await operator.scopeFor(id)).accountId;
          if (accountId !== undefined) await onRead(accountId, operator);
          yield* readDocuments(accountId, () => operator.deadline());
        }
      },
    ],
  ]);
}
