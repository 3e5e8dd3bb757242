// Runs `records restore`: verifies the files of a backup, then restores all its accounts.
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { BackupService } from "../../gen/records/admin/v1/backup_pb.ts";
import type { ExitCode } from "../exit.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import type { Link } from "../link.ts";
import type { Output } from "../output.ts";
import { counted, countFacts, rounded, totalOf } from "../output.ts";
import type { Transfer } from "../transfer.ts";
import { runTransfer } from "../transfer.ts";
import { batchesOf } from "./files.ts";
import type { FileEntry, Manifest } from "./manifest.ts";
import { readManifest, sum } from "./manifest.ts";
import type { Verification, Verified } from "./verify.ts";
import { checkAccounts, checkDocuments, filesFor, kept, ownEnds, verifyFiles } from "./verify.ts";

/** Options of a restore. */
export interface RestoreOptions {
  readonly dryRun?: boolean;
  /** The id or email of the only account to restore. */
  readonly account?: string;
}

/** Restores a backup, or one of its accounts, and reports the summary. Returns the exit code. */
export async function runRestore(
  output: Output,
  link: Link,
  folder: string,
  { dryRun = false, account }: RestoreOptions,
): Promise<ExitCode> {
  const manifest = await readComplete(folder);
  const how = { verb: dryRun ? "Checking" : "Restoring", onStop: "Stopping. To resume, run the same command again." };
  const restored = await runTransfer(output, how, async (transfer) => {
    const { progress, stop } = transfer;
    let documents = 0;
    const onDocuments = (doing: string) => (added: number) => {
      documents += added;
      progress.show({ records: documents, doing });
    };
    const work: Verification = {
      folder,
      stop,
      send: sender(link, manifest, transfer),
      keeps: () => true,
      onChecked: onDocuments("checking"),
    };
    const entries = account === undefined ? [...manifest.files.values()] : await filesFor(folder, manifest, account);
    const files = await verifyFiles(folder, entries, stop);
    const done = await checkAccounts(work, files);
    // The service's own file comes first: it contains the ended sessions, which must stay ended in restored accounts.
    const left = files.filter(({ file }) => !done.has(file)).sort((one, other) => rank(one) - rank(other));
    const chosen = account === undefined ? work : { ...work, keeps: ofAccount(files) };
    await checkDocuments(chosen, left);
    documents = 0;
    if (!dryRun) for (const entry of left) await restoreOne(chosen, entry, onDocuments("writing"));
    const shown = account === undefined ? files : files.filter((file) => file.account !== undefined);
    report(output, { folder, manifest, files: shown, resumed: done.size, seconds: transfer.seconds(), dryRun });
    return exitCodes.ok;
  });
  return restored ?? exitCodes.interrupted;
}

async function readComplete(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  if (manifest === undefined) rejectUsage(`${folder} has no backup. Name a folder that records export --all wrote.`);
  if (manifest.completion === undefined)
    throw new CommandError(
      exitCodes.failed,
      "incomplete",
      `The backup in ${folder} is not complete. Use a complete copy, or complete it from the service that it was begun with: records export --all ${folder}.`,
    );
  return manifest;
}

/** Returns which documents a restore of one account includes. Its document must have been checked. */
function ofAccount(files: readonly Verified[]): Verification["keeps"] {
  const ends = files.flatMap(({ account }) => (account === undefined ? [] : [ownEnds(account)]));
  return ({ account_id }, document) => account_id !== null || ends.some((isOwn) => isOwn(document));
}

function rank({ account_id }: FileEntry): number {
  return account_id === null ? 0 : 1;
}

function sender(link: Link, { header }: Manifest, { stop, retry }: Transfer): Verification["send"] {
  const client = link.client(BackupService);
  return ({ account_id: id }, documents, checkOnly) => {
    const request = { backupId: header.id, accountId: id ?? "", documents, checkOnly };
    return retry(() => client.restoreDocuments(request, { signal: stop }));
  };
}

async function restoreOne(work: Verification, entry: Verified, onRestored: (documents: number) => void): Promise<void> {
  for await (const batch of batchesOf(join(work.folder, entry.file))) {
    work.stop.throwIfAborted();
    const { documents } = kept(work, entry, batch);
    if (documents.length === 0) continue;
    try {
      await work.send(entry, documents, false);
    } catch (error) {
      throw explainStopped(error, entry);
    }
    onRestored(documents.length);
  }
}

/**
 * Converts the rejection of a batch for the user. It was accepted when it was checked, so the database has changed
 * since. Returns any other error unchanged.
 */
function explainStopped(error: unknown, { file }: FileEntry): unknown {
  if (!(error instanceof ConnectError) || ![Code.AlreadyExists, Code.InvalidArgument].includes(error.code))
    return error;
  return new CommandError(
    exitCodes.failed,
    "rejected",
    `The restore stopped in ${file}, because the database has changed since the check: ${error.rawMessage} What was restored stays. Remove what is in the way, then run the same command again.`,
  );
}

function report(
  output: Output,
  done: {
    readonly folder: string;
    readonly manifest: Manifest;
    readonly files: readonly Verified[];
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
      seconds: rounded(seconds),
    },
    [
      dryRun
        ? `The backup in ${folder} is undamaged and can be restored: ${all}.`
        : resumed === accounts
          ? `Everything was restored before: ${all} from ${folder}.`
          : `Restored ${all} from ${folder} in ${seconds.toFixed(1)} s.`,
      ...countFacts(documents),
      ...(resumed === 0 || resumed === accounts ? [] : [`Of these, ${counted(resumed, "account")} before.`]),
    ],
  );
}
