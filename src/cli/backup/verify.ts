// Verifies what is to be restored: the checksums of the files, every line, and whether the database can accept it.
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { BSON } from "mongodb";
import { BadRequestSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { RestoreDocumentsResponse, StoredDocument } from "../../gen/records/admin/v1/backup_pb.ts";
import { uuidForm } from "../../text/uuid.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import { counted } from "../output.ts";
import type { Line } from "../formats/lines.ts";
import type { Batch } from "./files.ts";
import { accounts, batchesOf, checksumOf, documentIn, lineError } from "./files.ts";
import { createHolders } from "./holders.ts";
import type { FileEntry, Manifest } from "./manifest.ts";

/** A file whose checksum is right. */
export interface Verified extends FileEntry {
  /** The document of its account; undefined for the service's own file. */
  readonly account: StoredDocument | undefined;
  /** The number of its last line, which has the account. */
  readonly lastLine: number;
}

/** The context of a verification. */
export interface Verification {
  readonly folder: string;
  readonly stop: AbortSignal;
  /** Whether a document is to be restored. */
  keeps(entry: FileEntry, document: StoredDocument): boolean;
  send(entry: FileEntry, documents: StoredDocument[], checkOnly: boolean): Promise<RestoreDocumentsResponse>;
  /** Called with the number of documents that were checked. */
  onChecked(documents: number): void;
}

/** Returns the files of an account, by its id or email, and of the service. Fails if the backup has no such account. */
export async function filesFor(folder: string, { files }: Manifest, name: string): Promise<FileEntry[]> {
  const isId = uuidForm.test(name);
  if (!isId && !name.includes("@")) rejectUsage(`Name the account by its id (a UUID) or its email, not "${name}".`);
  const entries = [...files.values()];
  for (const entry of entries) {
    if (entry.account_id === null || (isId && entry.account_id !== name.toLowerCase())) continue;
    if (isId || (await emailIn(join(folder, entry.file))) === name.toLowerCase())
      return [entry, ...entries.filter(({ account_id }) => account_id === null)];
  }
  const hint = isId ? "" : " A file that is missing or damaged has no email: name its account by its id.";
  throw new CommandError(exitCodes.failed, "not_found", `The backup in ${folder} has no account "${name}".${hint}`);
}

/** Returns the email of the account in a file, in lower case; undefined if it cannot be read. */
async function emailIn(path: string): Promise<string | undefined> {
  const found = await checksumOf(path);
  if (found?.last === undefined) return undefined;
  const { email } = BSON.deserialize(documentIn(path, found.last).bson);
  return typeof email === "string" ? email.toLowerCase() : undefined;
}

/**
 * Returns a function that returns which of the service's documents belong to an account: the sign-outs of its owners,
 * and the ended sessions at their providers, which name no user.
 */
export function ownEnds(account: StoredDocument): (document: StoredDocument) => boolean {
  const { identities = [] } = BSON.deserialize(account.bson) as {
    readonly identities?: readonly { readonly issuer: string; readonly subject: string }[];
  };
  return ({ collection, bson }) => {
    if (collection !== "ended_sessions") return false;
    const { issuer, subject } = (BSON.deserialize(bson)["_id"] ?? {}) as Record<string, unknown>;
    return identities.some((one) => one.issuer === issuer && (subject === undefined || one.subject === subject));
  };
}

/** Verifies the checksums of files. Fails if any is damaged or missing, or is no regular file. */
export async function verifyFiles(folder: string, files: readonly FileEntry[], stop: AbortSignal): Promise<Verified[]> {
  const verified: Verified[] = [];
  const damaged: string[] = [];
  for (const entry of files) {
    stop.throwIfAborted();
    const path = join(folder, entry.file);
    const found = await checksumOf(path);
    if (found?.sha256 !== entry.sha256) damaged.push(entry.file);
    else if (entry.account_id === null) verified.push({ ...entry, account: undefined, lastLine: 0 });
    else if (found.last === undefined) damaged.push(entry.file);
    else verified.push({ ...entry, account: accountOf(path, found.last), lastLine: found.last.number });
  }
  if (damaged.length === 0) return verified;
  throw new CommandError(
    exitCodes.failed,
    "damaged",
    `Nothing was restored: ${counted(damaged.length, "file")} damaged or missing: ${shortened(damaged)}. Use another copy of the backup.`,
  );
}

function accountOf(path: string, last: Line): StoredDocument {
  const document = documentIn(path, last);
  if (document.collection !== accounts)
    throw lineError(path, last.number, "damaged", "is damaged: the last line must have the account");
  return document;
}

/**
 * Checks that the database can accept all accounts. Returns the files of accounts that an earlier run restored. Fails
 * if it cannot accept one.
 */
export async function checkAccounts(
  { folder, send }: Verification,
  files: readonly Verified[],
): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  const rejected: string[] = [];
  let reason = "";
  for (const entry of files) {
    if (entry.account === undefined) continue;
    try {
      if ((await send(entry, [entry.account], true)).complete) done.add(entry.file);
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== Code.AlreadyExists)
        throw explainRejected(error, join(folder, entry.file), [entry.lastLine]);
      rejected.push(entry.account_id ?? "");
      reason = error.rawMessage;
    }
  }
  if (rejected.length === 0) return done;
  throw new CommandError(
    exitCodes.failed,
    "already_exists",
    `Nothing was restored: the database cannot take ${counted(rejected.length, "account")}: ${shortened(rejected)}. ${reason}`,
  );
}

/** Checks every document, and that no two accounts or documents take the same in the database. */
export async function checkDocuments(work: Verification, files: readonly Verified[]): Promise<void> {
  const holders = createHolders();
  for (const entry of files) {
    const path = join(work.folder, entry.file);
    for await (const read of batchesOf(path)) {
      work.stop.throwIfAborted();
      const early = read.documents.findIndex(
        ({ collection }, at) => collection === accounts && read.lines[at] !== entry.lastLine,
      );
      if (early !== -1)
        throw lineError(
          path,
          read.lines[early] ?? 0,
          "damaged",
          "is damaged: only the last line must have the account",
        );
      const { documents, lines } = kept(work, entry, read);
      if (documents.length === 0) continue;
      const { claims } = await send(work, entry, path, { documents, lines });
      for (const { document, key, holder } of claims)
        if (!holders.claim(key, holder))
          throw lineError(
            path,
            lines[document] ?? 0,
            "rejected",
            "can't be restored: another line of the backup has the same id, email, external id or identity, or it names a record of another account",
          );
      work.onChecked(documents.length);
    }
  }
}

/** Returns the documents of a batch that are to be restored. */
export function kept({ keeps }: Verification, entry: FileEntry, { documents, lines }: Batch): Batch {
  const isKept = documents.map((document) => keeps(entry, document));
  return { documents: documents.filter((_, at) => isKept[at]), lines: lines.filter((_, at) => isKept[at]) };
}

async function send(
  work: Verification,
  entry: FileEntry,
  path: string,
  { documents, lines }: Batch,
): Promise<RestoreDocumentsResponse> {
  try {
    return await work.send(entry, documents, true);
  } catch (error) {
    throw explainRejected(error, path, lines);
  }
}

/** Converts the rejection of a document into an error that names its line. Returns any other error unchanged. */
function explainRejected(error: unknown, path: string, lines: readonly number[]): unknown {
  if (!(error instanceof ConnectError)) return error;
  const [violation] = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
  const index = /^documents\[(\d+)\]/.exec(violation?.field ?? "")?.[1];
  const line = index === undefined ? undefined : lines[Number(index)];
  if (violation === undefined || line === undefined) return error;
  return lineError(path, line, "rejected", `can't be restored: it ${violation.description}`);
}

function shortened(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")}, …` : names.join(", ");
}
