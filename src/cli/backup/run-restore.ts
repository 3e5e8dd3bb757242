// Runs `records restore`: verifies the files of a backup, then restores all its accounts.
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import type { StoredDocument } from "../../gen/records/admin/v1/backup_pb.ts";
import { BackupService } from "../../gen/records/admin/v1/backup_pb.ts";
import type { ExitCode } from "../exit.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import { onInterrupt } from "../interrupt.ts";
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { count, counted, facts, totalOf } from "../output.ts";
import type { Progress } from "../progress.ts";
import { createProgress } from "../progress.ts";
import { retryWhileUnavailable } from "../retry.ts";
import { documentOf } from "./documents.ts";
import { batchesOf, checksumOf } from "./files.ts";
import type { FileEntry, Manifest } from "./manifest.ts";
import { readManifest, sum } from "./manifest.ts";

/** A verified file with its account's document; undefined for the service's own file. */
interface Checked extends FileEntry {
  readonly account: StoredDocument | undefined;
}

/** The context of a restore. */
interface Restoring {
  readonly folder: string;
  readonly progress: Progress;
  readonly stop: AbortSignal;
  readonly send: (entry: FileEntry, documents: StoredDocument[], checkOnly: boolean) => Promise<boolean>;
  /** Called with the number of restored documents. */
  readonly onRestored: (documents: number) => void;
}

/** Restores a backup and reports the summary. Returns the exit code. */
export async function runRestore(
  output: Output,
  link: Link,
  folder: string,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const begunAt = performance.now();
  const manifest = await readManifest(folder);
  if (manifest === undefined) rejectUsage(`${folder} has no backup. Name a folder that records export --all wrote.`);
  if (manifest.completion === undefined)
    throw new CommandError(
      exitCodes.failed,
      "incomplete",
      `The backup in ${folder} is not complete. To complete it, run records export --all ${folder}.`,
    );
  const progress = await createProgress(output, "Restoring", undefined);
  const interrupt = onInterrupt(() => progress.note("Stopping. To resume, run the same command again."));
  let documents = 0;
  const work: Restoring = {
    folder,
    progress,
    stop: interrupt.signal,
    send: sender(link, manifest, progress, interrupt.signal),
    onRestored(restored) {
      documents += restored;
      const seconds = (performance.now() - begunAt) / 1_000;
      progress.show({ records: documents, rate: documents / seconds, bytes: 0 });
    },
  };
  try {
    const files = await verify(work, manifest);
    const done = await check(work, files);
    // The service's own file comes first: it contains the ended sessions, which must stay ended in restored accounts.
    const left = files.filter(({ file }) => !done.has(file)).sort((one, other) => rank(one) - rank(other));
    if (!dryRun) for (const entry of left) await restoreOne(work, entry);
    const seconds = (performance.now() - begunAt) / 1_000;
    report(output, { folder, manifest, files, resumed: done.size, seconds, dryRun });
    return exitCodes.ok;
  } catch (error) {
    if (interrupt.signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    interrupt.end();
    progress.end();
  }
}

function rank({ account_id }: FileEntry): number {
  return account_id === null ? 0 : 1;
}

function sender(link: Link, { header }: Manifest, progress: Progress, stop: AbortSignal): Restoring["send"] {
  const client = link.client(BackupService);
  const onRepeat = (): void => progress.note("The service cannot be reached, or cannot respond. Trying again …");
  return async ({ account_id: id }, documents, checkOnly) => {
    const request = { backupId: header.id, accountId: id ?? "", documents, checkOnly };
    return (await retryWhileUnavailable({ stop, onRepeat }, () => client.restoreDocuments(request, { signal: stop })))
      .complete;
  };
}

/** Verifies every file before anything is restored. Fails if any is damaged or missing. */
async function verify({ folder, stop }: Restoring, { files }: Manifest): Promise<Checked[]> {
  const checked: Checked[] = [];
  const damaged: string[] = [];
  for (const entry of files.values()) {
    stop.throwIfAborted();
    const found = await checksumOf(join(folder, entry.file));
    if (found?.sha256 !== entry.sha256) damaged.push(entry.file);
    else checked.push({ ...entry, account: entry.account_id === null ? undefined : documentOf(found.lastLine) });
  }
  if (damaged.length === 0) return checked;
  throw new CommandError(
    exitCodes.failed,
    "damaged",
    `Nothing was restored: ${counted(damaged.length, "file")} damaged or missing: ${shortened(damaged)}. Use another copy of the backup.`,
  );
}

/** Checks that the database can accept all accounts. Returns the files of accounts that an earlier run restored. */
async function check({ send }: Restoring, files: readonly Checked[]): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  const rejected: string[] = [];
  let reason = "";
  for (const entry of files) {
    if (entry.account === undefined) continue;
    try {
      if (await send(entry, [entry.account], true)) done.add(entry.file);
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== Code.AlreadyExists) throw error;
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

function shortened(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")}, …` : names.join(", ");
}

async function restoreOne({ folder, stop, send, onRestored }: Restoring, entry: Checked): Promise<void> {
  for await (const documents of batchesOf(join(folder, entry.file))) {
    stop.throwIfAborted();
    await send(entry, documents, false);
    onRestored(documents.length);
  }
}

function report(
  output: Output,
  done: {
    readonly folder: string;
    readonly manifest: Manifest;
    readonly files: readonly Checked[];
    readonly resumed: number;
    readonly seconds: number;
    readonly dryRun: boolean;
  },
): void {
  const { folder, manifest, files, resumed, seconds, dryRun } = done;
  const documents = sum(files.map((entry) => entry.documents));
  const accounts = files.filter(({ account }) => account !== undefined).length;
  const all = `${counted(accounts, "account")} with ${counted(totalOf(documents), "document")}`;
  output.result(
    {
      directory: folder,
      backup_id: manifest.header.id,
      restored: !dryRun,
      accounts,
      resumed,
      documents: { ...documents },
      seconds: Math.round(seconds * 1_000) / 1_000,
    },
    [
      dryRun
        ? `The backup in ${folder} is undamaged and can be restored: ${all}.`
        : `Restored ${all} from ${folder} in ${seconds.toFixed(1)} s.`,
      ...facts(Object.entries(documents).map(([name, number]) => [name, count(number)])),
      ...(resumed === 0 ? [] : [`Already restored: ${counted(resumed, "account")}.`]),
    ],
  );
}
