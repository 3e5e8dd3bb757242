// Compares the indexes that the stores need with those that are there.
import { isDeepStrictEqual } from "node:util";
import type { Db, IndexDescription, IndexDescriptionInfo } from "mongodb";
import { MongoServerError } from "mongodb";
import type { IndexSpec } from "../../db/mongo.ts";
import type { Verdict } from "./check.ts";
import { fault, note, ok, warning } from "./check.ts";

/** What makes two indexes of one name and key different ones. */
const rules = ["unique", "sparse", "expireAfterSeconds", "partialFilterExpression"] as const;

/** One verdict on all of them. Rejects where they may not be listed. */
export async function compareIndexes(db: Db, specs: readonly IndexSpec[]): Promise<Verdict> {
  const collections = await Promise.all(specs.map(async (spec) => ({ spec, present: await indexesOf(db, spec.collection) })));
  const count = specs.reduce((sum, { indexes }) => sum + indexes.length, 0);
  if (collections.every(({ present }) => present === undefined)) return note(`The database ${db.databaseName} is empty: the service makes its ${count} indexes at the first start.`);
  const found = collections.flatMap(({ spec, present = [] }) => spec.indexes.map((needed) => ({ spec, collection: spec.collection, needed, flaw: flawOf(needed, present) })));
  const isDeferred = ({ spec, needed }: (typeof found)[number]): boolean => needed.name === spec.deferred;
  const away = found.filter((one) => one.flaw === "missing" && isDeferred(one)).map(nameOf);
  const missing = found.filter((one) => one.flaw === "missing" && !isDeferred(one)).map(nameOf);
  const different = found.filter(({ flaw }) => flaw === "different");
  const hidden = found.filter(({ flaw }) => flaw === "hidden");
  if (missing.length + different.length + hidden.length === 0) {
    if (away.length === 0) return ok(`All ${count} indexes are there.`);
    return warning(`${away.join(", ")} is away, as it is while a large import runs: until it is there, searches read every record of the account.`, "Let the import come to its end, which builds it. Where none runs, a running service begins to build it within a minute or two.");
  }
  const messages = [
    ...(missing.length === 0 ? [] : [`Missing: ${missing.join(", ")}.`]),
    ...(different.length === 0 ? [] : [`Not as needed: ${different.map((one) => `${nameOf(one)} (needed is ${JSON.stringify(one.needed.key)}${rulesOf(one.needed)})`).join(", ")}.`]),
    ...(hidden.length === 0 ? [] : [`Hidden: ${hidden.map(nameOf).join(", ")}.`]),
  ];
  const mends = [
    ...different.map(({ collection, needed }) => `db.${collection}.dropIndex("${needed.name}")`),
    ...hidden.map(({ collection, needed }) => `db.${collection}.unhideIndex("${needed.name}")`),
  ];
  const first = mends.length === 0 ? "" : `In mongosh: ${mends.join("; ")}. `;
  return fault(messages.join(" "), `${first}${missing.length + different.length === 0 ? "" : "Restart the service: it makes what is missing when it starts."}`.trim());
}

async function indexesOf(db: Db, collection: string): Promise<readonly IndexDescriptionInfo[] | undefined> {
  return db.collection(collection).listIndexes({ readPreference: "primaryPreferred" }).toArray().catch((error: unknown) => {
    if (error instanceof MongoServerError && error.codeName === "NamespaceNotFound") return undefined;
    throw error;
  });
}

function flawOf(needed: IndexDescription, present: readonly IndexDescriptionInfo[]): "missing" | "different" | "hidden" | undefined {
  const there = present.find(({ name }) => name === needed.name);
  if (there === undefined) return "missing";
  // The order of an index's fields is part of it.
  if (JSON.stringify(there.key) !== JSON.stringify(needed.key)) return "different";
  const has = (index: object, rule: string): unknown => (index as Record<string, unknown>)[rule] || undefined;
  // 0 seconds is a rule, and no rule is none.
  const equal = rules.every((rule) => isDeepStrictEqual(rule === "expireAfterSeconds" ? there[rule] : has(there, rule), rule === "expireAfterSeconds" ? needed[rule] : has(needed, rule)));
  if (!equal) return "different";
  return there["hidden"] === true ? "hidden" : undefined;
}

function nameOf({ collection, needed }: { readonly collection: string; readonly needed: IndexDescription }): string {
  return `${collection}.${needed.name}`;
}

function rulesOf(needed: IndexDescription): string {
  return rules.filter((rule) => needed[rule] !== undefined).map((rule) => `, ${rule} ${JSON.stringify(needed[rule])}`).join("");
}
