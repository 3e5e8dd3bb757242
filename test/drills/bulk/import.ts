// Kills the import command and then the service, resumes the import, and checks the account.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { MongoClient, UUID } from "mongodb";
import { withoutTerms } from "../../../src/db/search-fields.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { startChild } from "../../fixtures/service/child.ts";
import type { Running } from "../fixture/command.ts";
import { startCommand } from "../fixture/command.ts";
import type { BulkSize, Digest } from "./generate.ts";
import { addTo, digestsOf, emptyDigest, writeAccount } from "./generate.ts";

/** The outcome of a drill. */
export interface Verdict {
  /** What went wrong; empty if every record is as sent. */
  readonly faults: readonly string[];
  readonly seconds: number;
  /** The service's peak memory in MB in the first and the last third of the run. */
  readonly memory: { readonly first: number; readonly last: number };
  /** What the last run of the command reported. */
  readonly summary: string;
}

/** The databases and the account of a drill. */
export interface Fixture {
  readonly client: MongoClient;
  readonly mongodbUri: string;
  readonly redisUrl: string;
  readonly accountId: UUID;
  readonly say: (line: string) => void;
}

/** Kills the command at 40 % of the records and the service at 70 %, and resumes. */
export async function drillImport(
  { client, mongodbUri, redisUrl, accountId, say }: Fixture,
  size: BulkSize,
): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), "records-import-"));
  const file = join(folder, "account.ndjson");
  const started = performance.now();
  let instance = await startChild(mongodbUri, redisUrl);
  const memory = watchMemory(() => instance.pid);
  try {
    await writeAccount(file, size);
    const total = size.contacts + size.sessions + Math.ceil(size.sessions / 1_000) + size.notes;
    say(`${total} records in ${(statSync(file).size / 1e6).toFixed(0)} MB`);

    const first = runImport(instance, file, accountId);
    await imported(client, accountId, total * 0.4);
    first.child.kill("SIGKILL");
    await first.ended;
    say(`${at(started)} the command was killed after ${await position(client, accountId)} records`);

    const second = runImport(instance, file, accountId);
    await imported(client, accountId, total * 0.7);
    const { internalPort } = instance;
    await instance.kill();
    say(`${at(started)} the service was killed after ${await position(client, accountId)} records`);
    instance = await startChild(mongodbUri, redisUrl, { INTERNAL_PORT: String(internalPort) });
    const { code, output } = await second.ended;
    say(`${at(started)} the command ended with ${code}`);
    const faults = code === 0 ? [] : [`the import ended with ${code}: ${output.slice(-500)}`];

    const found = await digestsIn(client, accountId);
    for (const [name, expected] of Object.entries(digestsOf(size))) {
      const { count, sum } = found[name as keyof typeof found];
      if (count !== expected.count) faults.push(`${name}: ${count} instead of ${expected.count}`);
      else if (sum !== expected.sum) faults.push(`${name}: the number is right, but the content differs`);
    }
    const transcripts = await client.db().collection("transcripts").countDocuments({ account_id: accountId });
    if (transcripts !== Math.ceil(size.sessions / 1_000)) faults.push(`transcripts: ${transcripts}`);
    return { faults, seconds: (performance.now() - started) / 1_000, memory: memory.stop(), summary: output };
  } finally {
    memory.stop();
    await instance.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The digests of the account's records in the database. */
async function digestsIn(
  client: MongoClient,
  accountId: UUID,
): Promise<Readonly<Record<"contacts" | "sessions" | "notes", Digest>>> {
  const db = client.db();
  const digests = { contacts: emptyDigest(), sessions: emptyDigest(), notes: emptyDigest() };
  const all = (name: string) =>
    db.collection(name).find({ account_id: accountId }, { projection: { ...withoutTerms, own: 0 }, batchSize: 5_000 });
  for await (const { external_id, full_name } of all("contacts")) addTo(digests.contacts, external_id, full_name);
  for await (const { external_id, title, client: contact } of all("sessions"))
    addTo(digests.sessions, external_id, title, contact?.full_name ?? null);
  for await (const { content, created_at, label } of all("notes"))
    addTo(digests.notes, content, (created_at as Date).toISOString(), label);
  return digests;
}

function runImport(instance: ChildInstance, file: string, accountId: UUID): Running {
  return startCommand(instance, "import", file, "--account", accountId.toHexString());
}

async function position(client: MongoClient, accountId: UUID): Promise<number> {
  const found = await client
    .db()
    .collection("imports")
    .find({ account_id: accountId })
    .sort({ position: -1 })
    .limit(1)
    .next();
  return (found?.["position"] as number | undefined) ?? 0;
}

/** Resolves when this many records are imported. */
async function imported(client: MongoClient, accountId: UUID, records: number): Promise<void> {
  let before = { position: -1, at: performance.now() };
  for (;;) {
    const now = await position(client, accountId);
    if (now >= records) return;
    if (now !== before.position) before = { position: now, at: performance.now() };
    if (performance.now() - before.at > 120_000) throw new Error(`the import is stuck at ${now} of ${records} records`);
    await sleep(100);
  }
}

/** Samples the memory of the current process on Linux. `pid` may change when the process is replaced. */
function watchMemory(pid: () => number) {
  const samples: number[] = [];
  const timer = setInterval(() => {
    const file = `/proc/${pid()}/status`;
    const kilobytes = existsSync(file) ? /VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1] : undefined;
    if (kilobytes !== undefined) samples.push(Number(kilobytes) / 1_024);
  }, 500);
  return {
    stop() {
      clearInterval(timer);
      const third = Math.max(1, Math.floor(samples.length / 3));
      return {
        first: Math.round(Math.max(0, ...samples.slice(0, third))),
        last: Math.round(Math.max(0, ...samples.slice(-third))),
      };
    },
  };
}

function at(started: number): string {
  return `${((performance.now() - started) / 1_000).toFixed(0)} s `;
}
