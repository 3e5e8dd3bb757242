// Runs `records export --all`: writes a file for each account, and a manifest from which an interrupted run resumes.
import { createHash } from "node:crypto";
import { chmod, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FolderLock } from "../../embedded/folder-lock.ts";
import { isLock, lockFolder } from "../../embedded/folder-lock.ts";
import { identify, pidOf } from "../../embedded/process-id.ts";
import { BackupService } from "../../gen/records/admin/v1/backup_pb.ts";
import type { ExitCode } from "../exit.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { count, counted, countFacts, rounded, totalOf } from "../output.ts";
import type { Transfer } from "../transfer.ts";
import { messagesOf, runTransfer } from "../transfer.ts";
import { allAccounts, partition, unreadableLine } from "../all-accounts.ts";
import { lineOf } from "./documents.ts";
import { checksumOf } from "./files.ts";
import type { FileEntry, Manifest } from "./manifest.ts";
import { addFile, complete, fileOf, manifestFile, readManifest, sum, writeManifest } from "./manifest.ts";
import { makeFolder } from "../../process/make-folder.ts";

/** The context of an export. */
interface Export {
  readonly link: Link;
  readonly folder: string;
  readonly stop: AbortSignal;
  readonly retry: Transfer["retry"];
  /** Called with the number of written documents. Waits until the rate allows the next ones. */
  readonly onWritten: (documents: number) => Promise<void>;
}

/** The prefix of the name of a lock on the folder. */
const lockRole = "export";

/**
 * Exports all accounts to a folder, at most `rate` documents per second, and reports the summary. Returns the exit code.
 */
export async function runExportAll(output: Output, link: Link, folder: string, rate: number): Promise<ExitCode> {
  let lock: FolderLock | undefined;
  try {
    // Checked before the lock is written, because nothing may be written to a folder with other files.
    await openFolder(folder);
    lock = await lockBackup(folder);
    const how = { verb: "Exporting", onStop: "Stopping. To resume, run the same command again." };
    return (await runTransfer(output, how, (on) => exportTo(output, link, folder, rate, on))) ?? exitCodes.interrupted;
  } catch (error) {
    throw explainWriteError(error, folder);
  } finally {
    await lock?.release();
  }
}

/**
 * Locks the folder, because two runs would remove each other's files. Returns undefined if the system does not show
 * which processes run.
 */
async function lockBackup(folder: string): Promise<FolderLock | undefined> {
  if (identify(process.pid) === undefined) return undefined;
  return lockFolder(
    folder,
    lockRole,
    (holder) =>
      new CommandError(
        exitCodes.failed,
        "in_use",
        `Another export writes to ${folder} (pid ${pidOf(holder)}). Wait until it has ended, or name another folder.`,
      ),
  );
}

/** Exports to a folder that no other run writes to. */
async function exportTo(
  output: Output,
  link: Link,
  folder: string,
  rate: number,
  { progress, stop, retry, seconds }: Transfer,
): Promise<ExitCode> {
  // Another run may have completed the backup before this one got the lock.
  const before = await openFolder(folder);
  let documents = 0;
  let doing = "";
  let due = performance.now();
  const onWritten = async (written: number): Promise<void> => {
    documents += written;
    progress.show({ records: documents, doing });
    due = Math.max(due, performance.now()) + (written * 1_000) / rate;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stop });
  };
  const work: Export = { link, folder, stop, retry, onWritten };
  const all = await retry(() => allAccounts(link));
  requireSameService(folder, before, new Set(all.map(({ id }) => id)));
  const [unreadable, accounts] = partition(all);
  const kept = await keptFiles(folder, before, new Set(accounts.map(({ id }) => fileOf(id))));
  const leftOut = [...(before?.files.values() ?? [])].flatMap(({ account_id: id }) =>
    id === null || unreadable.includes(id) || accounts.some((account) => account.id === id) ? [] : [id],
  );
  await writeManifest(folder, before, [...kept.values()]);
  const files = new Map(kept);
  for (const [at, { id }] of accounts.entries()) {
    doing = `account ${count(at + 1)} of ${count(accounts.length)}`;
    if (kept.has(fileOf(id))) continue;
    const entry = await exportOne(work, id);
    if (entry === undefined) leftOut.push(id);
    else files.set(entry.file, entry);
  }
  // Comes last, so that it contains all sign-outs until now.
  const entry = await exportOne(work, "");
  if (entry !== undefined) files.set(entry.file, entry);
  leftOut.push(...(await removeDeleted(work, files)));
  await complete(folder, leftOut);
  report(output, { folder, files, kept: kept.size, leftOut, unreadable, seconds: seconds() });
  return unreadable.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/**
 * Creates the folder, or opens that of an earlier run and returns its manifest. Fails if the folder has other files or
 * a complete backup.
 */
async function openFolder(folder: string): Promise<Manifest | undefined> {
  await makeFolder(folder, 0o700);
  const manifest = await readManifest(folder);
  if (manifest?.completion !== undefined)
    throw new CommandError(exitCodes.failed, "complete", `${folder} has a complete backup. Name a new folder.`);
  const others = (await readdir(folder)).filter((name) => name !== `${manifestFile}.part` && !isLock(name, lockRole));
  if (manifest === undefined && others.length > 0)
    rejectUsage(`${folder} has other files. Name a new or an empty folder, or that of an interrupted export.`);
  await chmod(folder, 0o700);
  return manifest;
}

/**
 * Fails if an earlier run exported accounts, and none of them exists. Another service would be a mistake, because a run
 * removes the files of accounts that do not exist: they may be the only copy.
 */
function requireSameService(folder: string, before: Manifest | undefined, existing: ReadonlySet<string>): void {
  const exported = [...(before?.files.values() ?? [])].flatMap(({ account_id: id }) => id ?? []);
  if (exported.length === 0 || exported.some((id) => existing.has(id))) return;
  throw new CommandError(
    exitCodes.failed,
    "other_service",
    `No account of the backup in ${folder} exists in this service. Check --url, or name a new folder.`,
  );
}

/** Returns the complete files of an earlier run whose account still exists. Removes all others. */
async function keptFiles(
  folder: string,
  before: Manifest | undefined,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, FileEntry>> {
  const kept = new Map<string, FileEntry>();
  for (const [file, entry] of before?.files ?? [])
    if (wanted.has(file) && (await checksumOf(join(folder, file)))?.sha256 === entry.sha256) kept.set(file, entry);
  for (const name of await readdir(folder))
    if (!kept.has(name) && name !== manifestFile && !isLock(name, lockRole))
      await rm(join(folder, name), { force: true });
  return kept;
}

/**
 * Removes the files of accounts that were deleted after their files were written. A restore would bring them back.
 * Returns their ids.
 */
async function removeDeleted(work: Export, files: Map<string, FileEntry>): Promise<string[]> {
  const accounts = await work.retry(() => allAccounts(work.link));
  const existing = new Set(accounts.map(({ id }) => id));
  const deleted = [...files.values()].flatMap(({ account_id: id }) => (id === null || existing.has(id) ? [] : [id]));
  if (deleted.length === 0) return [];
  for (const id of deleted) files.delete(fileOf(id));
  await writeManifest(work.folder, await readManifest(work.folder), [...files.values()]);
  for (const id of deleted) await rm(join(work.folder, fileOf(id)), { force: true });
  return deleted;
}

/**
 * Writes the file of an account, or that of the service if the id is empty. Returns undefined if the account no longer
 * exists.
 */
async function exportOne(work: Export, accountId: string): Promise<FileEntry | undefined> {
  const file = fileOf(accountId);
  const path = join(work.folder, file);
  try {
    const written = await work.retry(() => write(work, accountId, path));
    await rename(`${path}.part`, path);
    const entry = { file, account_id: accountId === "" ? null : accountId, ...written };
    await addFile(work.folder, entry);
    return entry;
  } catch (error) {
    await rm(`${path}.part`, { force: true });
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

async function write(
  { link, stop, onWritten }: Export,
  accountId: string,
  path: string,
): Promise<Omit<FileEntry, "file" | "account_id">> {
  // A file left by another run would keep its permissions.
  await rm(`${path}.part`, { force: true });
  const handle = await open(`${path}.part`, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    const documents: Record<string, number> = {};
    let bytes = 0;
    const client = link.client(BackupService);
    for await (const message of messagesOf((options) => client.readDocuments({ accountId }, options), stop)) {
      const text = Buffer.from(message.documents.map(lineOf).join(""));
      for (const { collection } of message.documents) documents[collection] = (documents[collection] ?? 0) + 1;
      await handle.appendFile(text);
      hash.update(text);
      bytes += text.length;
      await onWritten(message.documents.length);
    }
    await handle.sync();
    return { bytes, sha256: hash.digest("hex"), documents };
  } finally {
    await handle.close();
  }
}

/** Converts a file system error into a message for the user. Returns any other error unchanged. */
function explainWriteError(error: unknown, folder: string): unknown {
  if (!(error instanceof Error && "syscall" in error && "code" in error) || error instanceof ConnectError) return error;
  return new CommandError(
    exitCodes.failed,
    "file",
    `${folder} cannot be written (${String(error.code)}). Check the free space and the rights, then run the same command again.`,
  );
}

function report(
  output: Output,
  done: {
    readonly folder: string;
    readonly files: ReadonlyMap<string, FileEntry>;
    readonly kept: number;
    readonly leftOut: readonly string[];
    readonly unreadable: readonly string[];
    readonly seconds: number;
  },
): void {
  const { folder, files, kept, leftOut, unreadable, seconds } = done;
  const documents = sum([...files.values()].map((entry) => entry.documents));
  const accounts = [...files.values()].filter(({ account_id }) => account_id !== null).length;
  output.result(
    {
      directory: folder,
      accounts,
      resumed: kept,
      left_out: leftOut,
      unreadable,
      documents: { ...documents },
      seconds: rounded(seconds),
    },
    [
      `Exported ${counted(accounts, "account")} with ${counted(totalOf(documents), "document")} to ${folder} in ${seconds.toFixed(1)} s.`,
      ...countFacts(documents),
      ...(kept === 0 ? [] : [`Already complete: ${counted(kept, "account")}.`]),
      ...leftOut.map((id) => `Account ${id} was deleted meanwhile and is left out.`),
      ...unreadable.map((id) => `Account ${id} is left out. ${unreadableLine(id)}`),
    ],
  );
}
