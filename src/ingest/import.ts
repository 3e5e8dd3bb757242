// Import: receives a stream of records and returns a stream of progress. An interrupted import can resume.
import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ImportRequest, ImportResponse } from "../gen/records/ingest/v1/import_pb.ts";
import { Failure, rejectInput } from "../call/errors.ts";
import type { WriteScope } from "../call/scope.ts";
import type { BulkLoading } from "./bulk.ts";
import { bulkKinds } from "./bulk.ts";
import { openImportStream, reportEveryMs } from "./import-stream.ts";
import type { ProgressStore } from "./progress-store.ts";
import type { Upserts } from "./upserts.ts";

/** Returns the right to write to an account. Fails with NOT_FOUND if there is no such account. */
export type ScopeFor = (accountId: string) => Promise<WriteScope>;

/** Counts imports and their records. */
export interface ImportWatch {
  /** Called when an import ends: `done`, `failed`, or `broken_off` by the client. */
  ended(outcome: "done" | "failed" | "broken_off"): void;
  /** Called with the number of records written or rejected. */
  items(outcome: "written" | "rejected", count: number): void;
}

/** Imports a stream of records, and yields its progress. */
export type Import = (requests: AsyncIterable<ImportRequest>, scopeFor: ScopeFor) => AsyncIterable<ImportResponse>;

/** Creates the import. `upserts` write the records of each kind. */
export function createImport(upserts: Upserts, store: ProgressStore, bulk: BulkLoading, watch: ImportWatch): Import {
  async function* importAll(requests: AsyncIterable<ImportRequest>, scopeFor: ScopeFor): AsyncIterable<ImportResponse> {
    const iterator = requests[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done === true || first.value.accountId === "")
      rejectInput([{ field: "account_id", rule: "required", message: "is required in the first message" }]);
    const { accountId, importId, updateByEmail: byEmail, restart } = first.value;
    const scope = (): Promise<WriteScope> => scopeFor(accountId);
    const stream = await openImportStream({
      importId: importId === "" ? randomUUID() : importId,
      byEmail,
      restart,
      scope,
      upserts,
      store,
      onItems: watch.items,
    });
    yield* stream.begin(first.value);
    for (let next: IteratorResult<ImportRequest> = first; next.done !== true; next = await iterator.next()) {
      requireSame("account_id", next.value.accountId, accountId);
      requireSame("import_id", next.value.importId, importId);
      requireSame("update_by_email", next.value.updateByEmail, byEmail);
      requireSame("restart", next.value.restart, restart);
      for (const batch of stream.take(next.value)) await stream.write(batch);
      if (stream.isReportDue()) {
        yield await stream.settle();
        // Counts only the records of this stream, because those of earlier streams may already be indexed.
        for (const kind of bulkKinds) await bulk.dropIndexIfWorthwhile(await scope(), kind, stream.newlyIndexed(kind));
      }
    }
    for await (const waiting of indexed(bulk, stream)) yield waiting;
    yield { ...(await stream.settle(true)), done: true };
  }

  return async function* (requests, scopeFor) {
    let outcome: Parameters<ImportWatch["ended"]>[0] = "broken_off";
    try {
      yield* importAll(requests, scopeFor);
      outcome = "done";
    } catch (error) {
      if (!isClientDisconnect(error)) outcome = "failed";
      throw error;
    } finally {
      watch.ended(outcome);
    }
  };
}

/** Builds the search indexes that were dropped, and yields progress meanwhile. */
async function* indexed(
  bulk: BulkLoading,
  stream: { settle(): Promise<ImportResponse> },
): AsyncIterable<ImportResponse> {
  if (!(await bulk.isIndexMissing())) return;
  let building = true;
  const built = bulk.build().finally(() => (building = false));
  // If a report fails first, the build is no longer awaited.
  built.catch(() => undefined);
  while (building) {
    yield { ...(await stream.settle()), indexing: true };
    await Promise.race([built, new Promise((resolve) => setTimeout(resolve, reportEveryMs))]);
  }
  await built;
}

/** Whether an error only means that the client disconnected: the library then ends the messages with its own error. */
function isClientDisconnect(error: unknown): boolean {
  return error instanceof ConnectError || (error instanceof Failure && error.reason === Reason.CANCELLED);
}

/** Rejects a message that has another value than the first one. */
function requireSame<T>(field: string, value: T, first: T): void {
  // An empty text, false and 0 mean that it is left out.
  if (value && value !== first)
    rejectInput([{ field, rule: "same", message: "must be the same as in the first message, or left out" }]);
}
