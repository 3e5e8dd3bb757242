// Kills the import command and then the service, resumes the import, and checks the account.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import type { MongoClient } from "mongodb";
import { withoutTerms } from "../../../src/db/search-fields.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Running } from "../fixture/command.ts";
import { startCommand } from "../fixture/command.ts";
import type { BulkSize, Digest } from "./generate.ts";
import { addTo, digestsOf, emptyDigest, writeAccount } from "./generate.ts";

const sizes: Readonly<Record<Form, BulkSize>> = {
  long: { contacts: 100_000, sessions: 100_000, notes: 1_000_000 },
  // Enough notes for the import to drop and rebuild their search index.
  short: { contacts: 1_500, sessions: 500, notes: 8_000 },
};

export const bulkImport: Drill = {
  name: "import",
  promise: "An import that is resumed after kills of the command and of the service has every record, and each once",
  run: (form, say) => runImport(sizes[form], say),
  controls: [
    brokenControl(
      "an import begins again, and a record without a name gets another id each time",
      [
        { from: "return isResumed ? stored :", to: "return isResumed ? { ...stored, position: 0 } :" },
        { from: "record.value.id = nameless(position);", to: "void nameless(position);" },
      ],
      (build, say) => runImport(sizes.short, say, build),
    ),
  ],
};

/** Kills the command at 40 % of the records and the service at 70 %, and resumes. */
async function runImport(
  size: BulkSize,
  say: Say,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  return withFixture({ members: 1, instances: 0, environment }, async ({ client, start, instances, account }) => {
    const folder = mkdtempSync(join(tmpdir(), "records-import-"));
    const file = join(folder, "account.ndjson");
    let instance = await start();
    instances.push(instance);
    const accountId = new UUID((await account()).id);
    const memory = watchMemory(() => instance.pid);
    try {
      await writeAccount(file, size);
      const total = size.contacts + size.sessions + Math.ceil(size.sessions / 1_000) + size.notes;
      say(`${total} records in ${(statSync(file).size / 1e6).toFixed(0)} MB`);

      const first = startImport(instance, file, accountId);
      await imported(client, accountId, total * 0.4);
      first.child.kill("SIGKILL");
      await first.ended;
      say(`the command was killed after ${await position(client, accountId)} records`);

      const second = startImport(instance, file, accountId);
      await imported(client, accountId, total * 0.7);
      const { internalPort } = instance;
      await instance.kill();
      say(`the service was killed after ${await position(client, accountId)} records`);
      instance = await start({ INTERNAL_PORT: String(internalPort) });
      instances.push(instance);
      const { code, output } = await second.ended;
      say(`the command ended with ${code}: ${output}`);
      const settled = await position(client, accountId);
      const { first: early, last: late } = memory.stop();
      return {
        figures: { records: total, "MB of the service, first third": early, "MB of the service, last third": late },
        violations: [
          ...(code === 0 ? [] : [`the import ended with ${code}: ${output.slice(-500)}`]),
          ...(settled === total ? [] : [`the import is at ${settled} of ${total} records`]),
          ...(await wrongRecords(client, accountId, size)),
        ],
      };
    } finally {
      memory.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** How the records of the account differ from those that were sent. */
async function wrongRecords(client: MongoClient, accountId: UUID, size: BulkSize): Promise<string[]> {
  const found = await digestsIn(client, accountId);
  const wrong = Object.entries(digestsOf(size)).flatMap(([name, expected]) => {
    const { count, sum } = found[name as keyof typeof found];
    if (count !== expected.count) return [`${name}: ${count} instead of ${expected.count}`];
    return sum === expected.sum ? [] : [`${name}: the number is right, but the content differs`];
  });
  const transcripts = await client.db().collection("transcripts").countDocuments({ account_id: accountId });
  const expected = Math.ceil(size.sessions / 1_000);
  return transcripts === expected ? wrong : [...wrong, `transcripts: ${transcripts} instead of ${expected}`];
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

function startImport(instance: ChildInstance, file: string, accountId: UUID): Running {
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
