// Index migrations: compares the indexes that the stores need with those that exist, and builds what is missing.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Db, IndexDescription, IndexDescriptionInfo, ReadPreferenceLike } from "mongodb";
import { MongoServerError } from "mongodb";
import { Failure } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { isDenied } from "./error-codes.ts";
import type { IndexSpec } from "./mongo.ts";
import { duplicateIndex, isUnavailable, retryMs, unlessMissing } from "./mongo.ts";

/** What one collection lacks. */
export interface IndexStep {
  readonly collection: string;
  /** To be built, or waited for where another process builds them. */
  readonly build: readonly IndexDescription[];
  /** The names of those among them that exist with another expiry, and are dropped before. */
  readonly replace: readonly string[];
  /** The names of indexes that no release needs any more. */
  readonly retired: readonly string[];
  /** How many documents there are, by an estimate; 0 where nothing is built. */
  readonly documents: number;
}

/** An existing index. */
export interface PresentIndex extends IndexDescriptionInfo {
  /** It cannot be used yet. */
  readonly building: boolean;
}

/** How an existing index differs from the needed one. */
export type Flaw = "missing" | "building" | "expiry" | "different" | "hidden";

/** How the building is done. */
export interface EnsureOptions {
  /** For how long it is repeated while MongoDB cannot serve. */
  readonly waitMs?: number;
  /** Keeps retired indexes: instances of the release before may still name them in a hint. */
  readonly keepRetired?: boolean;
  /**
   * Whether to build the indexes too that a large import drops for its time (`deferred`); by default it is left to the
   * service.
   */
  readonly withDeferred?: () => Promise<boolean>;
  /** Is called once, with everything that is to be done. */
  readonly onPlan?: (steps: readonly IndexStep[]) => void;
  /** Runs one step. */
  readonly around?: (step: IndexStep, work: () => Promise<void>) => Promise<void>;
}

/** That many documents are indexed within a second. */
export const fewDocuments = 20_000;
/** What makes two indexes of one name and key different ones. */
const rules = ["unique", "sparse", "partialFilterExpression"] as const;

/**
 * Builds the missing indexes, and drops those that are retired or have a different expiry. Where nothing is missing it
 * only lists the indexes. Safe on several processes at once: a build that another one began is waited for. The driver
 * repeats neither: where the primary changes meanwhile, it is retried for `waitMs` after each failure.
 */
export async function ensureIndexes(db: Db, specs: readonly IndexSpec[], options: EnsureOptions = {}): Promise<void> {
  const {
    waitMs = 0,
    keepRetired = false,
    withDeferred = () => Promise.resolve(false),
    around = (_step, work) => work(),
  } = options;
  let { onPlan } = options;
  let failedAt = Infinity;
  for (;;) {
    try {
      const plan = await planIndexes(db, specs, await withDeferred());
      const steps = plan.filter(({ build, retired }) => build.length > 0 || (!keepRetired && retired.length > 0));
      onPlan?.(steps);
      onPlan = undefined;
      for (const step of steps) {
        await around(step, () => apply(db, keepRetired ? { ...step, retired: [] } : step));
        failedAt = Infinity;
      }
      return;
    } catch (error) {
      if (isDeniedError(error))
        throw new Error(
          `MONGODB_URI: the user may not list or build indexes in the database ${db.databaseName}. Grant it readWrite there.`,
          { cause: error },
        );
      failedAt = Math.min(failedAt, performance.now());
      const passes = isUnavailable(error) || (error instanceof Failure && error.reason === Reason.UNAVAILABLE);
      if (!passes || performance.now() >= failedAt + waitMs) throw error;
      await sleep(retryMs);
    }
  }
}

/**
 * What is to be done, by collection. Without `withDeferred`, a deferred index is left out where there are many
 * documents.
 */
export async function planIndexes(db: Db, specs: readonly IndexSpec[], withDeferred = false): Promise<IndexStep[]> {
  const steps = await Promise.all(specs.map((spec) => planFor(db, spec, withDeferred)));
  return steps.filter(({ build, retired }) => build.length + retired.length > 0);
}

async function planFor(
  db: Db,
  { collection, indexes, retired = [], deferred }: IndexSpec,
  withDeferred: boolean,
): Promise<IndexStep> {
  const present = await indexesOf(db, collection);
  const flaws = indexes
    .map((needed) => ({ needed, flaw: flawOf(needed, present) }))
    .filter(({ flaw }) => flaw !== undefined && flaw !== "hidden");
  const documents = flaws.length === 0 ? 0 : await db.collection(collection).estimatedDocumentCount();
  const ours = flaws.filter(({ needed: { name } }) => withDeferred || documents <= fewDocuments || name !== deferred);
  return {
    collection,
    build: ours.map(({ needed }) => needed),
    replace: ours.flatMap(({ needed: { name }, flaw }) => (flaw === "expiry" && name !== undefined ? [name] : [])),
    retired: retired.filter((name) => present.some((index) => index.name === name)),
    documents: ours.length === 0 ? 0 : documents,
  };
}

async function apply(db: Db, { collection: name, build, replace, retired }: IndexStep): Promise<void> {
  const collection = db.collection(name);
  try {
    // Changing the expiry in place (collMod) needs more privileges than creating an index.
    for (const index of replace) await collection.dropIndex(index).catch(unlessMissing);
    if (build.length > 0) await collection.createIndexes([...build]);
    for (const index of retired) await collection.dropIndex(index).catch(unlessMissing);
  } catch (error) {
    throw inWords(error, name, build);
  }
}

/** What an operator has to do, without the values that the server's message may hold; any other error as it is. */
function inWords(error: unknown, collection: string, build: readonly IndexDescription[]): unknown {
  if (!(error instanceof MongoServerError)) return error;
  const names = build.map(({ name }) => `${collection}.${name}`).join(", ");
  const say = (text: string): Error => new Error(`The indexes ${names} cannot be built: ${text}`, { cause: error });
  const duplicated = duplicateIndex(error);
  if (duplicated !== undefined) {
    return say(
      `several documents of ${collection} have the same ${duplicated.join(", ") || "value in a unique index"}. Remove the duplicates, then try again.`,
    );
  }
  if (error.codeName === "IndexOptionsConflict" || error.codeName === "IndexKeySpecsConflict") {
    return say(
      "one of them exists with another definition. records doctor names it: drop it in mongosh, then try again.",
    );
  }
  return error;
}

function isDeniedError(error: unknown): boolean {
  return error instanceof MongoServerError && isDenied(Number(error.code));
}

/**
 * The indexes of a collection, those included that are being built; none where there is no collection. It needs no
 * right that readWrite lacks.
 */
export async function indexesOf(
  db: Db,
  collection: string,
  readPreference: ReadPreferenceLike = "primary",
): Promise<readonly PresentIndex[]> {
  const reply = await db
    .command({ listIndexes: collection, includeBuildUUIDs: true, comment: "watch" }, { readPreference })
    .catch((error: unknown) => {
      if (error instanceof MongoServerError && error.codeName === "NamespaceNotFound")
        return { cursor: { firstBatch: [] } };
      throw error;
    });
  const { firstBatch } = reply["cursor"] as {
    readonly firstBatch: readonly (IndexDescriptionInfo | { readonly spec: IndexDescriptionInfo })[];
  };
  // Of an index that is being built, the reply has the description inside, beside the id of the build.
  return firstBatch.map((index) =>
    "spec" in index ? { ...(index.spec as IndexDescriptionInfo), building: true } : { ...index, building: false },
  );
}

/** How the index of this name differs from the needed one, if it does. */
export function flawOf(needed: IndexDescription, present: readonly PresentIndex[]): Flaw | undefined {
  const existing = present.find(({ name }) => name === needed.name);
  if (existing === undefined) return "missing";
  // The order of an index's fields is part of it.
  if (JSON.stringify(existing.key) !== JSON.stringify(needed.key)) return "different";
  if (!rules.every((rule) => isDeepStrictEqual(existing[rule] || undefined, needed[rule] || undefined)))
    return "different";
  // 0 seconds is an expiry.
  if (existing["expireAfterSeconds"] !== needed.expireAfterSeconds) return "expiry";
  if (existing.building) return "building";
  return existing["hidden"] === true ? "hidden" : undefined;
}

/** For `onPlan`: `onLongBuilds` is called with the indexes whose build takes seconds or more, where there are any. */
export function longBuilds(onLongBuilds: (names: readonly string[]) => void): (steps: readonly IndexStep[]) => void {
  return (steps) => {
    const names = steps.filter(({ documents }) => documents > fewDocuments).flatMap(namesOf);
    if (names.length > 0) onLongBuilds(names);
  };
}

/** `<collection>.<index>` of everything that a step builds. */
export function namesOf({ collection, build }: IndexStep): string[] {
  return build.map(({ name }) => `${collection}.${name ?? ""}`);
}
