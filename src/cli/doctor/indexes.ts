// Compares the indexes that the stores need with the existing ones.
import type { Db, IndexDescription } from "mongodb";
import { flawOf, indexesOf } from "../../db/indexes.ts";
import type { IndexSpec } from "../../db/mongo.ts";
import type { Verdict } from "./check.ts";
import { fault, note, ok, warning } from "./check.ts";

/** The options to show of a required index that exists with another definition. */
const rules = ["unique", "sparse", "expireAfterSeconds", "partialFilterExpression"] as const;

/** Returns one verdict on all indexes. Rejects if the user may not list them. */
export async function compareIndexes(db: Db, specs: readonly IndexSpec[]): Promise<Verdict> {
  const collections = await Promise.all(
    specs.map(async (spec) => ({ spec, present: await indexesOf(db, spec.collection, "primaryPreferred") })),
  );
  const count = specs.reduce((sum, { indexes }) => sum + indexes.length, 0);
  if (collections.every(({ present }) => present.length === 0))
    return note(
      `The database ${db.databaseName} is empty: the service builds its ${count} indexes at the first start.`,
    );
  const found = collections.flatMap(({ spec, present }) =>
    spec.indexes.map((needed) => ({ spec, collection: spec.collection, needed, flaw: flawOf(needed, present) })),
  );
  const isDeferred = ({ spec, needed }: (typeof found)[number]): boolean => needed.name === spec.deferred;
  const away = found.filter((one) => one.flaw === "missing" && isDeferred(one)).map(nameOf);
  const missing = found.filter((one) => one.flaw === "missing" && !isDeferred(one));
  const different = found.filter(({ flaw }) => flaw === "different" || flaw === "expiry");
  const hidden = found.filter(({ flaw }) => flaw === "hidden");
  const building = found.filter(({ flaw }) => flaw === "building").map(nameOf);
  if (missing.length + different.length + hidden.length === 0) {
    if (building.length > 0)
      return warning(
        `Being built: ${building.join(", ")}. Until then, requests that need them are slow, or a start waits.`,
        "Wait. To see the progress, run records migrate.",
      );
    if (away.length === 0) return ok(`All ${count} indexes exist.`);
    return warning(
      `${away.join(", ")} is missing. A large import removes it while it runs. Until it exists again, searches read every record of the account.`,
      "Wait until the import ends: it rebuilds the index. If no import runs, a running service starts to rebuild it within two minutes.",
    );
  }
  const messages = [
    ...(missing.length === 0 ? [] : [`Missing: ${missing.map(nameOf).join(", ")}.`]),
    ...(different.length === 0
      ? []
      : [
          `Wrong definition: ${different.map((one) => `${nameOf(one)} (required: ${JSON.stringify(one.needed.key)}${rulesOf(one.needed)})`).join(", ")}.`,
        ]),
    ...(hidden.length === 0 ? [] : [`Hidden: ${hidden.map(nameOf).join(", ")}.`]),
  ];
  const fixes = [
    ...different.map(({ collection, needed }) => `db.${collection}.dropIndex("${needed.name}")`),
    ...hidden.map(({ collection, needed }) => `db.${collection}.unhideIndex("${needed.name}")`),
  ];
  const settings = [...new Set([...missing, ...different].flatMap(({ spec: { setting } }) => setting ?? []))];
  const advice = [
    ...(fixes.length === 0 ? [] : [`In mongosh: ${fixes.join("; ")}.`]),
    ...(missing.length + different.length === 0
      ? []
      : [
          `Run records migrate${settings.length === 0 ? "" : ` with ${settings.join(", ")}`}: it builds the missing indexes while the service runs.`,
        ]),
  ];
  return fault(messages.join(" "), advice.join(" "));
}

function nameOf({ collection, needed }: { readonly collection: string; readonly needed: IndexDescription }): string {
  return `${collection}.${needed.name}`;
}

function rulesOf(needed: IndexDescription): string {
  return rules
    .filter((rule) => needed[rule] !== undefined)
    .map((rule) => `, ${rule} ${JSON.stringify(needed[rule])}`)
    .join("");
}
