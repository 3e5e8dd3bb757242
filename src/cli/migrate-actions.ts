// Runs `records migrate`: builds indexes as an instance does when it starts, rebuilds search terms of the previous
// release, and shows the progress.
import type { MongoClient } from "mongodb";
import { MongoParseError } from "mongodb";
import type { IndexStep } from "../db/indexes.ts";
import { ensureIndexes, namesOf, planIndexes, withoutSetting } from "../db/indexes.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { connectMongo, isUnavailable } from "../db/mongo.ts";
import { primaryOf } from "../db/primary.ts";
import { rebuildTerms } from "../db/rebuild-terms.ts";
import { rejectionOf } from "../db/rejection.ts";
import { embeddedDependencies } from "../embedded/running.ts";
import { shownError } from "../log/logged-error.ts";
import { allCollections, createServices, indexesFor, searchable } from "../app/services.ts";
import { readSettings } from "./doctor/settings.ts";
import { CommandError, exitCodes, rejectUsage } from "./exit.ts";
import type { Output } from "./output.ts";
import { counted } from "./output.ts";
import { lineEveryMs } from "./progress.ts";

const connectMs = 30_000;
/** A failover takes about 10 seconds. */
const failoverMs = 60_000;

/**
 * Builds the missing indexes, rebuilds search terms of the previous release and reports the result. Fails with a
 * CommandError that names the variable if MongoDB cannot be used.
 */
export async function migrate(environment: NodeJS.ProcessEnv, output: Output, indexesOnly: boolean): Promise<void> {
  const { ofSettings, uri, maxPool } = await settingsOf(environment);
  const began = performance.now();
  try {
    const client = await connectMongo(uri, connectMs, maxPool);
    try {
      const { bulkLoading } = createServices(client);
      const built: string[] = [];
      const around = async (step: IndexStep, work: () => Promise<void>): Promise<void> => {
        const names = namesOf(step);
        await shown(client, output, names, step.documents, work);
        built.push(...names);
      };
      // Reads need the lease on the primary, which is held only some time after the connection is open.
      await primaryOf(client).waitUntilHeld(failoverMs);
      const retention = await Promise.all(
        ofSettings.map((spec) => (isSet(environment, spec) ? spec : withoutSetting(client.db(), spec))),
      );
      const specs = [...allCollections, ...retention];
      await ensureIndexes(client.db(), allCollections, {
        waitMs: failoverMs,
        keepRetired: true,
        withDeferred: async () => !(await bulkLoading.isBusy()),
        around,
      });
      // No release names the index of the retention in a hint, so it can be dropped before the upgrade.
      await ensureIndexes(client.db(), retention, { waitMs: failoverMs, around });
      const rebuilt = indexesOnly ? 0 : await rebuildAll(client, output);
      const left = (await planIndexes(client.db(), specs, true)).flatMap(namesOf);
      report(output, {
        indexes: specs.flatMap(({ indexes }) => indexes).length,
        built,
        rebuilt,
        left,
        seconds: (performance.now() - began) / 1_000,
      });
    } finally {
      await client.close();
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const message = shownError(error);
    if (cause instanceof MongoParseError || rejectionOf(cause) !== undefined) rejectUsage(message);
    throw new CommandError(isUnavailable(cause) ? exitCodes.unreachable : exitCodes.failed, "mongodb", message);
  }
}

interface Result {
  readonly indexes: number;
  readonly built: readonly string[];
  /** The number of records whose search terms were rebuilt. */
  readonly rebuilt: number;
  /** Indexes that a running import or erasure has dropped temporarily. */
  readonly left: readonly string[];
  readonly seconds: number;
}

function report(output: Output, { indexes, built, rebuilt, left, seconds }: Result): void {
  const took = `${seconds.toFixed(1)} s`;
  const done =
    built.length > 0
      ? `Built ${built.length} of ${indexes} indexes in ${took}: ${built.join(", ")}.`
      : left.length > 0
        ? "No index was missing."
        : `All ${indexes} indexes exist.`;
  const terms = rebuilt === 0 ? "" : ` Rebuilt the search terms of ${counted(rebuilt, "record")}.`;
  const later =
    left.length === 0
      ? ""
      : ` A large import or erasure runs without ${left.join(", ")}: a running instance builds it afterwards.`;
  output.result({ indexes, built, rebuilt, left, seconds: Number(seconds.toFixed(1)) }, [done + terms + later]);
}

/** Rebuilds the search terms of the previous release, and shows the progress. Returns the number of records. */
async function rebuildAll(client: MongoClient, output: Output): Promise<number> {
  let all = 0;
  let shownAt = performance.now();
  for (const { collection, rebuild } of searchable)
    all += await rebuildTerms(client, collection, rebuild, (count) => {
      if (performance.now() < shownAt + lineEveryMs) return;
      shownAt = performance.now();
      output.note(`Rebuilding the search terms of ${collection}: ${counted(count, "record")}`);
    });
  return all;
}

/**
 * Runs the build, and shows the names, the number of documents and the elapsed time. With the privilege `inprog`, also
 * shows MongoDB's progress.
 */
async function shown(
  client: MongoClient,
  output: Output,
  names: readonly string[],
  documents: number,
  work: () => Promise<void>,
): Promise<void> {
  const what = names.join(", ");
  const began = performance.now();
  if (documents > 0) output.note(`Building ${what}: some ${counted(documents, "document")}.`);
  const timer = setInterval(() => {
    void phaseOf(client, names).then((phase) =>
      output.note(`Building ${what}: ${Math.round((performance.now() - began) / 1_000)} s${phase}`),
    );
  }, lineEveryMs);
  await work().finally(() => clearInterval(timer));
}

/** Returns MongoDB's progress of the build; empty without the privilege to read it. */
async function phaseOf(client: MongoClient, names: readonly string[]): Promise<string> {
  const ns = `${client.db().databaseName}.${names[0]?.split(".", 1)[0] ?? ""}`;
  const pipeline = [
    { $currentOp: { allUsers: true } },
    { $match: { ns, "command.createIndexes": { $exists: true }, "progress.total": { $gt: 0 } } },
  ];
  const [operation] = await client
    .db("admin")
    .aggregate(pipeline, { readConcern: { level: "local" } })
    .toArray()
    .catch(() => []);
  const { done = 0, total = 0 } = (operation?.["progress"] ?? {}) as {
    readonly done?: number;
    readonly total?: number;
  };
  // For example "Index Build: scanning collection Index Build: scanning collection: 51732/200000 25%".
  const phase = String(operation?.["msg"]).split(":").at(-2)?.trim() ?? "";
  return total === 0 ? "" : `, ${phase} ${Math.floor((done / total) * 100)}%`;
}

function isSet(environment: NodeJS.ProcessEnv, { setting = "" }: IndexSpec): boolean {
  return (environment[setting] ?? "") !== "";
}

/** Reads only the settings that the command needs, because others may be missing here. */
async function settingsOf(
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly ofSettings: readonly IndexSpec[]; readonly uri: string; readonly maxPool: number | undefined }> {
  const { config, wrong } = readSettings(environment);
  for (const name of ["MONGODB_URI_FILE", "MONGODB_URI", "MONGODB_MAX_POOL", "AUDIT_RETENTION_DAYS"]) {
    const problem = wrong.get(name);
    if (problem !== undefined) rejectUsage(`${name}: ${problem}.`);
  }
  const uri = config.mongodbUri ?? (await embeddedDependencies(config.dataDir)).mongodbUri;
  const unchanging: readonly IndexSpec[] = allCollections;
  return {
    ofSettings: indexesFor(config).filter((spec) => !unchanging.includes(spec)),
    maxPool: config.mongodbMaxPool,
    uri:
      uri ??
      rejectUsage(
        "MONGODB_URI: is not set, and no service with an embedded MongoDB runs from DATA_DIR. With an embedded MongoDB, npm start builds the indexes.",
      ),
  };
}
