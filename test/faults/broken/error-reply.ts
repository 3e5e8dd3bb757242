// Builds an error reply that replaces the server's, with the labels that the server would add.
import type { Document } from "mongodb";
import { type Long, ObjectId } from "mongodb";
import type { ErrorReply } from "./kinds.ts";
import type { Command } from "./message.ts";

const writing = new Set(["insert", "update", "delete", "findandmodify"]);

/** Whether a reply acknowledges a write by a majority. */
export function acknowledges({ name, inTransaction }: Command): boolean {
  return name === "committransaction" || (writing.has(name) && !inTransaction);
}

/** The reply of a server that has not carried out a command. */
export function errorDocument(
  { code, codeName, labeled, topology }: ErrorReply,
  command: Command,
  hello: Document,
): Document {
  const { counter } = hello["topologyVersion"] as { counter: Long };
  const versions = { current: hello["topologyVersion"] as Document, restarted: { processId: new ObjectId(), counter } };
  return {
    ...(topology === undefined ? {} : { topologyVersion: versions[topology] }),
    ok: 0,
    errmsg: "injected",
    code,
    codeName,
    ...(labeled === true ? { errorLabels: labelsFor(command) } : {}),
    ...Object.fromEntries(
      ["$clusterTime", "operationTime"].filter((name) => name in hello).map((name) => [name, hello[name]]),
    ),
  };
}

/** The labels that a server adds to a retryable error. */
function labelsFor({ name, inTransaction, retryable }: Command): string[] {
  if (name === "committransaction" || name === "aborttransaction") return ["RetryableWriteError"];
  if (inTransaction) return ["TransientTransactionError"];
  return retryable ? ["RetryableWriteError"] : [];
}
