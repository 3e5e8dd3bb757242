// Many instances start at once, on an empty database, on one without indexes, and on one with everything.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import { collections } from "../../../src/db/collections.ts";
import { mongoFailureOf } from "../../../src/db/mongo.ts";
import { Reason } from "../../../src/gen/records/v1/errors_pb.ts";
import { flawOf, indexesOf } from "../../../src/db/indexes.ts";
import { indexesFor } from "../../../src/app/services.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Account, Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import { rest } from "../../fixtures/service/service.ts";
import { deletedBy } from "../bulk/erasure-figures.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import { brokenControl } from "../fixture/broken.ts";
import { readLines } from "../fixture/lines.ts";
import { quantile } from "../load/load.ts";

/** How many instances, how many contacts when the database is full, and how many of an account that is deleted. */
interface Plan {
  readonly instances: number;
  readonly contacts: number;
  readonly deleted: number;
}

const plans: Record<Form, Plan> = {
  long: { instances: 20, contacts: 100_000, deleted: 20_000 },
  short: { instances: 4, contacts: 2_000, deleted: 4_000 },
};
/** How long an instance may take to become ready. */
const patienceMs = 60_000;
const error = 50;

const everySweeps = {
  file: "src/accounts/erasure-lease.ts",
  from: '$expr: { $lte: [{ $ifNull: ["$lease.expires_at", new Date(0)] }, "$$NOW"] },',
  to: "",
};
const noBuild = {
  file: "src/db/indexes.ts",
  from: "if (build.length > 0) await collection.createIndexes([...build]);",
  to: "if (build.length > 1) await collection.createIndexes(build.slice(1));",
};

export const instances: Drill = {
  name: "instances",
  promise:
    "Instances that start at once all become ready and serve at once, build each index once, share their switches, and leave an erasure to one of them",
  run: (form, say) => startTogether(plans[form], say),
  controls: [
    brokenControl("an index of each collection is not built", [noBuild], (environment, say) =>
      startTogether({ ...plans.short, instances: 2 }, say, environment),
    ),
    brokenControl("every instance sweeps", [everySweeps], (environment, say) =>
      startTogether({ ...plans.short, deleted: 20_000 }, say, environment),
    ),
  ],
};

async function startTogether(plan: Plan, say: Say, environment: Record<string, string> = {}): Promise<Report> {
  const errors: string[] = [];
  const lines = readLines();
  const onLogLine = (line: string): void => {
    if (line.startsWith("{")) lines.add(line);
    const serious = line.startsWith("{")
      ? Number((JSON.parse(line) as Document)["level"]) >= error
      : /^\w*Error: /.test(line);
    if (serious) errors.push(line);
  };
  const options = { members: 1, instances: 0, environment: { LOG_LEVEL: "info", ...environment }, onLogLine } as const;
  return withFixture(options, async (fixture) => {
    const violations: string[] = [];
    const figures: Record<string, number | string> = { instances: plan.instances };
    let unavailable = 0;
    for (const state of ["empty", "without indexes", "full"] as const) {
      if (state === "without indexes") await fill(fixture, plan.contacts);
      const { readyMs, statuses } = await startAll(fixture, plan.instances);
      unavailable += statuses.filter((status) => status === 503).length;
      violations.push(
        ...statuses
          .filter((status) => ![200, 201, 503].includes(status))
          .map((status) => `${state}: the first requests of an instance got ${status}`),
      );
      violations.push(...(await wrongIndexes(fixture)).map((problem) => `${state}: ${problem}`));
      figures[`${state}: ready after ms, p50`] = quantile(readyMs, 0.5);
      figures[`${state}: ready after ms, longest`] = quantile(readyMs, 1);
      if (state === "full") {
        const resident = fixture.instances.map(residentMb);
        figures["resident MB when started, p50"] = quantile(resident, 0.5);
        violations.push(...(await setSwitches(fixture)), ...(await erase(fixture, plan.deleted)));
      }
      const codes = await Promise.all(fixture.instances.splice(0).map((instance) => instance.stop()));
      violations.push(...codes.flatMap((code) => (code === 0 ? [] : [`an instance ended with ${String(code)}`])));
      // The first violation is enough for a control.
      if (Object.keys(environment).length > 0 && violations.length > 0) break;
      say(`${state}: ${plan.instances} instances were ready after ${Math.round(quantile(readyMs, 1))} ms`);
    }
    // While many processes start on a few cores, one of them can lack the time to prove its primary. Its log says so.
    figures["first requests that got 503"] = unavailable;
    figures["causes of 5xx"] = lines.causes();
    violations.push(...lines.unexplained().map((line) => `no cause is named by ${line.slice(0, 300)}`));
    if (lines.failed() < unavailable)
      violations.push(`${unavailable} requests got 503, of which ${lines.failed()} are logged`);
    violations.push(...errors.map((line) => `an instance logged ${line.slice(0, 300)}`));
    return { figures, violations };
  });
}

/** Starts all at once, and sends each its first requests as soon as it is ready: the times until then, and statuses. */
async function startAll(fixture: Fixture, count: number): Promise<{ readyMs: number[]; statuses: number[] }> {
  const began = performance.now();
  const statuses: number[] = [];
  const readyMs = await Promise.all(
    Array.from({ length: count }, async () => {
      const instance = await fixture.start();
      fixture.instances.push(instance);
      await ready(instance);
      const readyMs = performance.now() - began;
      const { key } = await accountOf(fixture);
      const made = await rest(instance.base, "/v1/contacts", { key, body: { full_name: "Ann Lee" } });
      const read = await rest(instance.base, "/v1/contacts?query=ann", { key });
      statuses.push(made.status, read.status);
      if (made.status === 201 && read.status === 200 && read.body.data.length !== 1)
        throw new Error("the first contact of an account is not found");
      return readyMs;
    }),
  );
  return { readyMs, statuses };
}

/** An account by the drill's own client, which can lack the time to prove its primary while the others start. */
async function accountOf(fixture: Fixture): Promise<Account> {
  for (const until = Date.now() + patienceMs; ; await sleep(200)) {
    try {
      return await fixture.account();
    } catch (failure) {
      if (mongoFailureOf(failure).reason !== Reason.UNAVAILABLE || Date.now() > until) throw failure;
    }
  }
}

/** Waits until an instance reports that it is ready. */
async function ready({ internalPort }: ChildInstance): Promise<void> {
  for (const until = Date.now() + patienceMs; ; await sleep(100)) {
    const { status } = await rest(`http://127.0.0.1:${internalPort}`, "/readyz");
    if (status === 200) return;
    if (Date.now() > until) throw new Error(`an instance is not ready: ${status}`);
  }
}

/** Copies contacts up to a number, and drops every index. */
async function fill({ client }: Fixture, contacts: number): Promise<void> {
  const stored = client.db().collection<Document & { _id: UUID }>(collections.contacts);
  const made = await stored.find().toArray();
  for (let at = 0; at < contacts; at += 1_000)
    await stored.insertMany(
      Array.from({ length: 1_000 }, (_, one) => ({ ...made[(at + one) % made.length], _id: new UUID() })),
      { ordered: false },
    );
  for (const { name } of await client.db().listCollections({ type: "collection" }, { nameOnly: true }).toArray())
    await client.db().collection(name).dropIndexes();
}

/** Indexes that are missing, wrong, or there for nothing. */
async function wrongIndexes({ client }: Fixture): Promise<string[]> {
  const specs = indexesFor({ auditRetentionDays: 400 });
  const names = [...new Set(specs.map(({ collection }) => collection))];
  const found = await Promise.all(
    names.map(async (name) => {
      const needed = specs.filter(({ collection }) => collection === name).flatMap(({ indexes }) => indexes);
      const present = await indexesOf(client.db(), name);
      const flaws = needed.flatMap((index) => {
        const flaw = flawOf(index, present);
        return flaw === undefined ? [] : [`${name}.${index.name} is ${flaw}`];
      });
      const more = present.filter((one) => one.name !== "_id_" && !needed.some((index) => index.name === one.name));
      return [...flaws, ...more.map((one) => `${name}.${one.name} is there for nothing`)];
    }),
  );
  return found.flat();
}

/** Has every instance set the same switch at once: it is stored once, with a record of each change. */
async function setSwitches({ instances, client }: Fixture): Promise<string[]> {
  const message = { enabled: true, reason: "The drill." };
  const statuses = await Promise.all(
    instances.map(async (instance) => {
      const { status } = await internal(instance, "InterfaceService/SetWrites", message);
      return status;
    }),
  );
  const stored = await client.db().collection(collections.switches).countDocuments();
  const changes = await client.db().collection(collections.switchChanges).countDocuments();
  return [
    ...statuses.filter((status) => status !== 200).map((status) => `a switch could not be set: ${status}`),
    ...(stored === 1 ? [] : [`one switch was set, and ${stored} are stored`]),
    ...(changes === instances.length ? [] : [`${instances.length} changes of a switch left ${changes} records`]),
  ];
}

/** Deletes an account by every instance at once; the records are deleted by one of them. */
async function erase(fixture: Fixture, contacts: number): Promise<string[]> {
  const { instances, client } = fixture;
  const { id } = await accountOf(fixture);
  const stored = client.db().collection<Document & { _id: UUID }>(collections.contacts);
  const account_id = new UUID(id);
  const [template] = await stored.find().limit(1).toArray();
  for (let at = 0; at < contacts; at += 1_000)
    await stored.insertMany(
      Array.from({ length: 1_000 }, () => ({ ...template, account_id, _id: new UUID() })),
      { ordered: false },
    );
  const request = { account_id: id, reason: "The drill." };
  const unfinished = async (): Promise<boolean> => {
    const responses = await Promise.all(
      instances.map((instance) => internal(instance, "AccountService/DeleteAccount", request)),
    );
    return responses.some(({ body }) => body?.erased !== true);
  };
  for (const until = Date.now() + 120_000; (await unfinished()) && Date.now() < until; ) await sleep(200);
  const left = await stored.countDocuments({ account_id });
  const sweepers = (await Promise.all(instances.map(deletedBy))).filter((deleted) => deleted !== 0);
  return [
    ...(left === 0 ? [] : [`${left} contacts of a deleted account are left`]),
    ...(sweepers.length === 1 ? [] : [`${sweepers.length} instances deleted the records of one account`]),
  ];
}

function internal({ internalPort }: ChildInstance, rpc: string, body: object): ReturnType<typeof rest> {
  return rest(`http://127.0.0.1:${internalPort}`, `/records.admin.v1.${rpc}`, {
    body,
    headers: { Authorization: `Bearer ${childToken}` },
  });
}

function residentMb({ pid }: ChildInstance): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
}
