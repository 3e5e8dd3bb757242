// Moves one account into a database that already has another, interrupting the restore.
import { UUID } from "mongodb";
import type { Db, MongoClient } from "mongodb";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { childToken } from "../../fixtures/service/child.ts";
import { rest } from "../../fixtures/service/service.ts";
import { startCommand } from "../fixture/command.ts";
import type { Scene } from "./scene.ts";
import { until } from "./scene.ts";
import type { Stored } from "./compare.ts";
import { differences, stored } from "./compare.ts";
import type { Filled } from "./fill.ts";

/** Restores two accounts one by one, killing the second restore, then tries to restore that account where it exists. */
export async function moveOne(
  { fixture, source, folder, violations, say }: Scene,
  target: ChildInstance,
  client: MongoClient,
  moved: Filled,
  resident: Filled,
): Promise<void> {
  const db = client.db();
  const restore = (instance: ChildInstance, account: string) =>
    startCommand(instance, "restore", folder, "--account", account);
  const first = await restore(target, await emailOf(fixture.client.db(), resident.id)).ended;
  if (first.code !== 0) violations.push(`the restore of one account ended with ${first.code}: ${first.output}`);
  const before = await stored(db);
  const killed = restore(target, moved.id);
  await until(killed, async () => (await db.collection("restores").countDocuments()) >= 2);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const second = await restore(target, moved.id).ended;
  if (second.code !== 0)
    violations.push(`the resumed restore of one account ended with ${second.code}: ${second.output}`);
  say("one account moved");

  violations.push(...differences(await ofAccounts(fixture.client.db(), moved, resident), await ofAccounts(db)));
  violations.push(
    ...differences(before, await stored(db, [moved.id])).filter((one) => !one.startsWith("ended_sessions")),
  );
  for (const { key, status } of [...moved.keys, ...resident.keys]) {
    const got = await rest(target.base, "/v1/contacts?query=contact", { key });
    if (got.status !== status) violations.push(`a key of a moved account gets ${got.status} instead of ${status}`);
  }
  const existing = await restore(source, moved.id).ended;
  if (existing.code !== 1 || !existing.output.includes("already_exists"))
    violations.push(`a move to a database that has the account ended with ${existing.code}: ${existing.output}`);
  await rest(`http://127.0.0.1:${target.internalPort}`, "/records.admin.v1.AccountService/DeleteAccount", {
    key: childToken,
    body: { account_id: moved.id, reason: "a drill" },
  });
  const deleted = await restore(target, moved.id).ended;
  if (deleted.code !== 1 || !deleted.output.includes("was deleted here"))
    violations.push(`a move to a database that deleted the account ended with ${deleted.code}: ${deleted.output}`);
}

async function emailOf(db: Db, id: string): Promise<string> {
  const account = await db.collection("accounts").findOne({ _id: UUID.createFromHexString(id) as never });
  return String(account?.["email"]);
}

/** Returns the documents of these accounts, or of all accounts, without service-wide documents. */
async function ofAccounts(db: Db, ...accounts: readonly Filled[]): Promise<Stored> {
  const all = await db
    .collection("accounts")
    .find({}, { projection: { _id: 1 } })
    .toArray();
  const ids = accounts.map(({ id }) => id);
  const others = all.map(({ _id }) => String(_id)).filter((id) => ids.length > 0 && !ids.includes(id));
  const found = await stored(db, others);
  return new Map([...found].filter(([name]) => !/^(?:ended_sessions|switch_changes) /.test(name)));
}
