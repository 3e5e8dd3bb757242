// The document of an error reply in place of the server's, with the labels that the server gives it.
import type { Document } from "mongodb";
import { type Long, ObjectId } from "mongodb";
import type { ErrorReply } from "./kinds.ts";
import type { Command } from "./message.ts";

const writing = new Set(["insert", "update", "delete", "findandmodify"]);

/** Whether a reply says that a majority has a write. */
export function acknowledges({ name, inTransaction }: Command): boolean {
  return name === "committransaction" || (writing.has(name) && !inTransaction);
}

/** What a server replies that has not carried out a command. */
export function errorDocument(
  { code, codeName, labelled, topology }: ErrorReply,
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
    ...(labelled === true ? { errorLabels: labelsFor(command) } : {}),
    ...Object.fromEntries(
      ["$clusterTime", "operationTime"].filter((name) => name in hello).map((name) => [name, hello[name]]),
    ),
  };
}

/** The labels that a server gives an error after which the command may be tried again. */
function labelsFor({ name, inTransaction, retryable }: Command): string[] {
  if (name === "committransaction" || name === "aborttransaction") return ["RetryableWriteError"];
  if (inTransaction) return ["TransientTransactionError"];
  return retryable ? ["RetryableWriteError"] : [];
}
