// Index migrations: compares the indexes that the stores need with the existing ones, and builds the missing ones.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Db, IndexDescription, IndexDescriptionInfo, ReadPreferenceLike } from "mongodb";
import { MongoServerError } from "mongodb";
import { Failure } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { findFirst } from "./aggregate.ts";
import { isDenied } from "./error-codes.ts";
import type { IndexSpec } from "./mongo.ts";
import { duplicateIndex, isUnavailable, retryMs, ignoreMissingIndex } from "./mongo.ts";

/** The index changes that one collection needs. */
export interface IndexStep {
  readonly collection: string;
  /** Indexes to build, or to wait for if another process is building them. */
  readonly build: readonly IndexDescription[];
  /** Names of the indexes to build that exist with another expiry, and are dropped first. */
  readonly replace: readonly string[];
  /** Names of existing indexes that no release needs any more. */
  readonly retired: readonly string[];
  /** The estimated number of documents; 0 if nothing is built. */
  readonly documents: number;
}

/** An existing index. */
export interface PresentIndex extends IndexDescriptionInfo {
  /** True until the build is complete. The index cannot be used before. */
  readonly building: boolean;
}

/** How an existing index differs from the required one. */
export type Flaw = "missing" | "building" | "expiry" | "different" | "hidden";

/** Options of an index migration. */
export interface EnsureOptions {
  /** How long to retry while MongoDB is unavailable, in milliseconds. */
  readonly waitMs?: number;
  /** Keeps retired indexes, because instances of the previous release may still name them in a hint. */
  readonly keepRetired?: boolean;
  /**
   * Whether to also build the indexes that a large import drops temporarily (`deferred`). By default, the service
   * builds them.
   */
  readonly withDeferred?: () => Promise<boolean>;
  /** Called once with all planned steps. */
  readonly onPlan?: (steps: readonly IndexStep[]) => void;
  /** Wraps each step. */
  readonly around?: (step: IndexStep, work: () => Promise<void>) => Promise<void>;
}

/** The number of documents that MongoDB indexes within a second. */
export const fewDocuments = 20_000;
/** Options that distinguish two indexes of the same name and key. */
const rules = ["unique", "sparse", "partialFilterExpression"] as const;

/**
 * Builds missing indexes, and drops those that are retired or have a different expiry. Only lists the indexes if
 * nothing is missing. Concurrent processes wait for each other's builds. The driver does not retry these commands, so a
 * failure while the primary changes is retried here for `waitMs`.
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
 * Returns the required steps, one for each collection. Unless `withDeferred` is set, leaves out deferred indexes of
 * collections with many documents.
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
    for (const index of replace) await collection.dropIndex(index).catch(ignoreMissingIndex);
    if (build.length > 0) await collection.createIndexes([...build]);
    for (const index of retired) await collection.dropIndex(index).catch(ignoreMissingIndex);
  } catch (error) {
    throw explainBuildError(error, name, build);
  }
}

/**
 * Converts an error into instructions for the operator, without the values in the server's message. Returns any other
 * error unchanged.
 */
function explainBuildError(error: unknown, collection: string, build: readonly IndexDescription[]): unknown {
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
 * Returns the indexes of a collection, including those being built. Returns none if the collection does not exist.
 * Needs only the role readWrite.
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
  // While an index is being built, the reply nests its description next to the id of the build.
  return firstBatch.map((index) =>
    "spec" in index ? { ...(index.spec as IndexDescriptionInfo), building: true } : { ...index, building: false },
  );
}

/** Returns how the index of this name differs from the required one; undefined if it does not. */
export function flawOf(needed: IndexDescription, present: readonly PresentIndex[]): Flaw | undefined {
  const existing = present.find(({ name }) => name === needed.name);
  if (existing === undefined) return "missing";
  // The order of its fields is part of an index.
  if (JSON.stringify(existing.key) !== JSON.stringify(needed.key)) return "different";
  if (!rules.every((rule) => isDeepStrictEqual(existing[rule] || undefined, needed[rule] || undefined)))
    return "different";
  // An expiry of 0 seconds is valid.
  if (existing["expireAfterSeconds"] !== needed.expireAfterSeconds) return "expiry";
  if (existing.building) return "building";
  return existing["hidden"] === true ? "hidden" : undefined;
}

/**
 * Returns the indexes to ensure where their setting is unknown. An index that exists stays as it is, and none is built
 * that could delete documents: the instances may be set to keep them.
 */
export async function withoutSetting(db: Db, spec: IndexSpec): Promise<IndexSpec> {
  const present = await indexesOf(db, spec.collection);
  const asTheyAre = spec.indexes.flatMap(({ expireAfterSeconds: _ofDefault, ...needed }) =>
    present
      .filter(({ name }) => name === needed.name)
      .map(({ expireAfterSeconds }) => ({
        ...needed,
        ...(expireAfterSeconds !== undefined && { expireAfterSeconds }),
      })),
  );
  if (asTheyAre.length > 0) return { ...spec, indexes: asTheyAre };
  const any = await findFirst(db.collection(spec.collection), {}, { projection: { _id: 1 }, deadline: undefined });
  return any === undefined ? spec : { ...spec, indexes: [] };
}

/**
 * Returns an `onPlan` callback that passes the names of indexes whose build takes seconds or longer to `onLongBuilds`,
 * if there are any.
 */
export function longBuilds(onLongBuilds: (names: readonly string[]) => void): (steps: readonly IndexStep[]) => void {
  return (steps) => {
    const names = steps.filter(({ documents }) => documents > fewDocuments).flatMap(namesOf);
    if (names.length > 0) onLongBuilds(names);
  };
}

/** Returns the indexes that a step builds, as `<collection>.<index>`. */
export function namesOf({ collection, build }: IndexStep): string[] {
  return build.map(({ name }) => `${collection}.${name ?? ""}`);
}
