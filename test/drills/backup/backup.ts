// Exports all accounts and restores them into an empty database, interrupting both, and compares them byte for byte.
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MongoClient } from "mongodb";
import { connectMongo } from "../../../src/db/mongo.ts";
import { primaryOf } from "../../../src/db/primary.ts";
import { createServices } from "../../../src/app/services.ts";
import { createDatabase } from "../../fixtures/databases/database.ts";
import { startOwnRedis } from "../../fixtures/databases/own-redis.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { childToken, startChild } from "../../fixtures/service/child.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import { rest } from "../../fixtures/service/service.ts";
import type { Control, Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Running } from "../fixture/command.ts";
import { startCommand } from "../fixture/command.ts";
import { countsOf, differences, stored } from "./compare.ts";
import type { Filled } from "./fill.ts";
import { fill } from "./fill.ts";
import { startLoad } from "./load.ts";
import { moveOne } from "./move.ts";
import type { Scene } from "./scene.ts";
import { until } from "./scene.ts";

const sizes = {
  long: { accounts: 200, contacts: 200, rate: 5_000 },
  short: { accounts: 9, contacts: 150, rate: 400 },
} as const;

export const backup: Drill = {
  name: "backup",
  promise: "Restored equals backed up: every field of every record, API key, identity, enrolment and audit entry",
  run: (form, say) => examine(form, say),
  controls: [
    control("the restore omits a field", {
      from: "documents.map(({ _id, ...replacement }) => ({",
      to: "documents.map(({ _id, last_used_at: _out, ...replacement }) => ({",
    }),
    control("the export skips the audit log", {
      from: '[collections.auditLog]: {\n    kept: "account"',
      to: '[collections.auditLog]: {\n    kept: "nothing"',
    }),
    control(
      "a restore overwrites an existing account",
      ...["failTaken()", "failName(holder: string)"].map((name) => ({
        from: `function ${name}: never {
  return fail(`,
        to: `function ${name}: never {
  return undefined as never;
  fail(`,
      })),
    ),
    control("numbers lose their types", {
      from: "return BSON.deserialize(bson, { promoteValues: false });",
      to: "return BSON.deserialize(bson);",
    }),
  ],
};

function control(broken: string, ...breaks: readonly Break[]): Control {
  return brokenControl(broken, breaks, (build, say) => examine("short", say, build));
}

async function examine(form: Form, say: Say, build: Readonly<Record<string, string>> = {}): Promise<Report> {
  const parent = mkdtempSync(join(tmpdir(), "records-backup-"));
  const violations: string[] = [];
  try {
    return await withFixture({ members: 1, instances: 1, environment: build }, async (fixture) => {
      const [source] = fixture.instances;
      if (source === undefined) throw new Error("no instance");
      const { accounts, contacts } = sizes[form];
      const filled = await fill(fixture, parent, accounts, contacts);
      say(`${filled.length} accounts filled`);
      const scene: Scene = { fixture, source, folder: join(parent, "backup"), say, form, violations };
      const doomed = filled.at(-1)?.id ?? "";
      const load = form === "long" ? await loadOn(source, fixture.services, "the export") : undefined;
      await exportAll(scene, doomed);
      const busy = load === undefined ? [] : [load.account];
      violations.push(...((await load?.stop())?.violations ?? []));
      const before = await stored(fixture.client.db(), [...busy, doomed]);
      checkFiles(scene, filled);
      await withTarget(scene, build, (target, client) => restoreAll(scene, target, client, filled, [...busy, doomed]));
      const [moved, resident] = filled;
      if (moved === undefined || resident === undefined) throw new Error("too few accounts");
      await withTarget(scene, build, (target, client) => moveOne(scene, target, client, moved, resident));
      return { figures: { ...countsOf(before), "accounts exported": accounts }, violations };
    });
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Interrupts the export with Ctrl-C, kills the second attempt, and deletes the last account during the third. */
async function exportAll({ source, folder, say, form, violations }: Scene, doomed: string): Promise<void> {
  const run = (): Running => startCommand(source, "export", "--all", folder, "--rate", String(sizes[form].rate));
  const first = run();
  await until(first, () => recorded(folder).length >= 1);
  first.child.kill("SIGINT");
  const { code, output } = await first.ended;
  if (code !== 130) violations.push(`an interrupted export ended with ${code}: ${output}`);
  if (readdirSync(folder).some((name) => name.endsWith(".part")))
    violations.push("an interrupted export left a partial file");
  const [done = ""] = recorded(folder);
  const { mtimeMs } = statSync(join(folder, done));

  const second = run();
  await until(second, () => recorded(folder).length >= 3);
  second.child.kill("SIGKILL");
  await second.ended;
  say(`the export was killed with ${recorded(folder).length} files`);

  const third = run();
  await until(third, () => recorded(folder).length >= 5);
  await rest(`http://127.0.0.1:${source.internalPort}`, "/records.admin.v1.AccountService/DeleteAccount", {
    key: childToken,
    body: { account_id: doomed, reason: "a drill" },
  });
  const last = await third.ended;
  if (last.code !== 0) throw new Error(`the export ended with ${last.code}: ${last.output}`);
  const { left_out: leftOut, resumed } = JSON.parse(last.output) as { left_out: string[]; resumed: number };
  if (String(leftOut) !== doomed) violations.push(`left out ${String(leftOut)} instead of ${doomed}`);
  if (resumed < 3) violations.push(`${resumed} accounts were reused from an interrupted export`);
  if (statSync(join(folder, done)).mtimeMs !== mtimeMs) violations.push("a complete file was rewritten");
  if (existsSync(join(folder, `${doomed}.ndjson`))) violations.push("a deleted account has a file");
}

/** The files listed in the manifest. A file that is not listed is rewritten. */
function recorded(folder: string): string[] {
  const manifest = join(folder, "manifest.ndjson");
  if (!existsSync(manifest)) return [];
  return [...readFileSync(manifest, "utf8").matchAll(/^\{"file":"([0-9a-f-]{36}\.ndjson)".*\n/gm)].map(
    ([, name = ""]) => name,
  );
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9a-f-]{36}\.ndjson$/.test(name)) : [];
}

/** Only the owner can read the files, and they contain no API key. */
function checkFiles({ folder, violations }: Scene, filled: readonly Filled[]): void {
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  if (modeOf(folder) !== "700") violations.push(`the folder has mode ${modeOf(folder)}`);
  const secrets = filled.flatMap(({ keys }) => keys.map(({ key }) => key));
  for (const name of readdirSync(folder)) {
    if (modeOf(join(folder, name)) !== "600") violations.push(`${name} has mode ${modeOf(join(folder, name))}`);
    const text = readFileSync(join(folder, name), "utf8");
    if (secrets.some((key) => text.includes(key))) violations.push(`${name} contains an API key`);
  }
}

/** Runs `work` with an instance on an empty database. */
async function withTarget(
  { fixture }: Scene,
  build: Readonly<Record<string, string>>,
  work: (target: ChildInstance, client: MongoClient) => Promise<void>,
): Promise<void> {
  const cleanups: (() => unknown)[] = [];
  try {
    const database = await createDatabase(fixture.mongod.administratorUri);
    cleanups.push(() => database.drop());
    const redis = await startOwnRedis();
    cleanups.push(() => redis.stop());
    const client = await connectMongo(database.administratorUri, 30_000);
    await primaryOf(client).waitUntilHeld(30_000);
    cleanups.push(() => client.close());
    const target = await startChild(database.uri, redis.uri, build);
    cleanups.push(() => target.kill());
    await work(target, client);
  } finally {
    for (const end of cleanups.reverse()) await end();
  }
}

async function restoreAll(
  scene: Scene,
  target: ChildInstance,
  client: MongoClient,
  filled: readonly Filled[],
  without: readonly string[],
): Promise<void> {
  const { fixture, source, folder, violations, form, say } = scene;
  await checkRejections(scene, target, client);
  const load = form === "long" ? await loadOn(target, createServices(client), "the restore") : undefined;
  const first = startCommand(target, "restore", folder);
  await until(first, async () => (await client.db().collection("restores").countDocuments()) >= 2);
  first.child.kill("SIGKILL");
  await first.ended;
  say(`the restore was killed with ${await client.db().collection("accounts").countDocuments()} accounts`);
  const second = await startCommand(target, "restore", folder).ended;
  if (second.code !== 0) violations.push(`the restore ended with ${second.code}: ${second.output}`);
  violations.push(...((await load?.stop())?.violations ?? []));

  const before = await stored(fixture.client.db(), without);
  const after = await stored(client.db(), [...without, ...(load === undefined ? [] : [load.account])]);
  violations.push(...differences(before, after));
  for (const { keys } of filled.filter(({ id }) => !without.includes(id)))
    for (const { key, status } of keys) {
      const got = await rest(target.base, "/v1/contacts?query=contact", { key });
      if (got.status !== status) violations.push(`a key gets ${got.status} instead of ${status}`);
    }
  // Repeating a restore does not overwrite later changes.
  const again = await startCommand(target, "restore", folder).ended;
  if (again.code !== 0) violations.push(`a repeated restore ended with ${again.code}: ${again.output}`);
  const rejected = await startCommand(source, "restore", folder).ended;
  if (rejected.code !== 1 || !rejected.output.includes("already_exists"))
    violations.push(`a restore over existing accounts ended with ${rejected.code}: ${rejected.output}`);
}

/** Damaged files are detected before anything is restored. */
async function checkRejections(
  { folder, violations }: Scene,
  target: ChildInstance,
  client: MongoClient,
): Promise<void> {
  const copy = `${folder}-damaged`;
  for (const name of [filesIn(folder).at(-1) ?? "", "manifest.ndjson"]) {
    cpSync(folder, copy, { recursive: true });
    const bytes = readFileSync(join(copy, name));
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(join(copy, name), bytes);
    const { code, output } = await startCommand(target, "restore", copy).ended;
    rmSync(copy, { recursive: true });
    if (code !== 1 || !output.includes("damaged"))
      violations.push(`${name} is damaged, but the restore printed ${output}`);
    if ((await client.db().collection("accounts").countDocuments()) > 0)
      violations.push(`a damaged backup was restored`);
  }
}

async function loadOn(
  instance: ChildInstance,
  { accounts, apiKeys }: ReturnType<typeof createServices>,
  what: string,
): Promise<ReturnType<typeof startLoad> & { readonly account: string }> {
  const { _id } = await accounts.create(`busy-${what.replace(" ", "-")}@example.com`, true);
  const { secret } = await apiKeys.create(_id, "read_write");
  return { ...startLoad(instance.base, secret, `during ${what}`), account: _id.toHexString() };
}
