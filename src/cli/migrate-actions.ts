// What `records migrate` does: the same building of indexes as at the start of an instance, with its progress.
import type { MongoClient } from "mongodb";
import { MongoParseError } from "mongodb";
import type { Config } from "../config.ts";
import { ensureIndexes, namesOf } from "../db/indexes.ts";
import { connectMongo, isUnavailable } from "../db/mongo.ts";
import { rejectionOf } from "../db/rejection.ts";
import { embeddedParts } from "../embedded/running.ts";
import { shownError } from "../logged-error.ts";
import { noteSearchIndex, notesCollection } from "../notes/store.ts";
import { createServices, indexesFor } from "../services.ts";
import { readSettings } from "./doctor/settings.ts";
import { CommandError, exitCodes, refuseUsage } from "./exit.ts";
import type { Output } from "./output.ts";
import { count } from "./output.ts";

const connectMs = 10_000;
/** A failover costs some 10 seconds. */
const failoverMs = 60_000;
const lineEveryMs = 5_000;

/** Builds indexes that a collection of so many documents lacks, and shows how far that is. */
type Build = (names: readonly string[], documents: number, work: () => Promise<void>) => Promise<void>;

/** Builds what is missing, and reports it. Fails with a CommandError that names the variable where MongoDB cannot be used. */
export async function migrate(environment: NodeJS.ProcessEnv, output: Output): Promise<void> {
  const { config, uri } = await settingsOf(environment);
  const specs = indexesFor(config);
  const began = performance.now();
  try {
    const client = await connectMongo(uri, connectMs);
    try {
      const built: string[] = [];
      const build: Build = async (names, documents, work) => {
        await shown(client, output, names, documents, work);
        built.push(...names);
      };
      await ensureIndexes(client.db(), specs, { waitMs: failoverMs, keepRetired: true, around: (step, work) => build(namesOf(step), step.documents, work) });
      await buildDeferred(client, output, build);
      report(output, specs.flatMap(({ indexes }) => indexes).length, built, (performance.now() - began) / 1_000);
    } finally {
      await client.close();
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const mayPass = isUnavailable(cause) && !(cause instanceof MongoParseError) && rejectionOf(cause) === undefined;
    throw new CommandError(mayPass ? exitCodes.unreachable : exitCodes.failed, "mongodb", shownError(error));
  }
}

/** The search index of notes, unless a large import or erasure has taken it away: a running instance builds it afterwards. */
async function buildDeferred(client: MongoClient, output: Output, build: Build): Promise<void> {
  const { bulkLoading } = createServices(client);
  if (!(await bulkLoading.isOwed())) return;
  const name = `${notesCollection}.${noteSearchIndex.name}`;
  if (await bulkLoading.isDue()) await build([name], await client.db().collection(notesCollection).estimatedDocumentCount(), bulkLoading.build);
  else output.note(`${name} is away while a large import or erasure runs. A running instance builds it afterwards.`);
}

function report(output: Output, indexes: number, built: readonly string[], seconds: number): void {
  const line = built.length === 0 ? `All ${indexes} indexes exist.` : `Built ${built.length} of ${indexes} indexes in ${seconds.toFixed(1)} s: ${built.join(", ")}.`;
  output.result({ indexes, built, seconds: Number(seconds.toFixed(1)) }, [line]);
}

/** Shows what can be known: names, documents and time; with the right `inprog` also how far MongoDB is. */
async function shown(client: MongoClient, output: Output, names: readonly string[], documents: number, work: () => Promise<void>): Promise<void> {
  const what = names.join(", ");
  const began = performance.now();
  if (documents > 0) output.note(`Building ${what}: some ${count(documents)} documents.`);
  const timer = setInterval(() => {
    void phaseOf(client, names).then((phase) => output.note(`Building ${what}: ${Math.round((performance.now() - began) / 1_000)} s${phase}`));
  }, lineEveryMs);
  await work().finally(() => clearInterval(timer));
}

/** What MongoDB says of the build; empty without the right to ask. */
async function phaseOf(client: MongoClient, names: readonly string[]): Promise<string> {
  const ns = `${client.db().databaseName}.${names[0]?.split(".", 1)[0] ?? ""}`;
  const pipeline = [{ $currentOp: { allUsers: true } }, { $match: { ns, "command.createIndexes": { $exists: true }, "progress.total": { $gt: 0 } } }];
  const [operation] = await client.db("admin").aggregate(pipeline, { readConcern: { level: "local" } }).toArray().catch(() => []);
  const { done = 0, total = 0 } = (operation?.["progress"] ?? {}) as { readonly done?: number; readonly total?: number };
  // Such as "Index Build: scanning collection Index Build: scanning collection: 51732/200000 25%".
  const phase = String(operation?.["msg"]).split(":").at(-2)?.trim() ?? "";
  return total === 0 ? "" : `, ${phase} ${Math.floor((done / total) * 100)}%`;
}

/** Only what it needs: the other settings may be missing where it runs. */
async function settingsOf(environment: NodeJS.ProcessEnv): Promise<{ readonly config: Config; readonly uri: string }> {
  const { config, wrong } = readSettings(environment);
  for (const name of ["MONGODB_URI_FILE", "MONGODB_URI", "AUDIT_RETENTION_DAYS"]) {
    const problem = wrong.get(name);
    if (problem !== undefined) refuseUsage(`${name}: ${problem}.`);
  }
  const uri = config.mongodbUri ?? (await embeddedParts(config.dataDir)).mongodbUri;
  return { config, uri: uri ?? refuseUsage("MONGODB_URI: is not set, and no service with an embedded MongoDB runs from DATA_DIR. An embedded MongoDB needs no migration: npm start does it.") };
}
