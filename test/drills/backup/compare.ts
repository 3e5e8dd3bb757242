// Compares two databases document by document, as MongoDB stores them.
import type { Db } from "mongodb";
import { BSON } from "mongodb";

/** The raw bytes of each document, by collection and id. */
export type Stored = ReadonlyMap<string, string>;

/** The collections that a backup does not contain, as docs/backup.md says. */
const notKept = new Set([
  ...["idempotency", "dashboard_sessions", "erasures", "logout_tokens", "request_counts", "restores", "switches"],
]);

/** Everything that must be restored, except for these accounts. */
export async function stored(db: Db, without: readonly string[] = []): Promise<Stored> {
  const all = new Map<string, string>();
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    if (notKept.has(name)) continue;
    for await (const row of db.collection(name).find({}, { raw: true })) {
      const bytes = Buffer.from(row as unknown as Uint8Array);
      const { _id, account_id } = BSON.deserialize(bytes);
      if (without.includes(String(account_id ?? _id))) continue;
      all.set(`${name} ${BSON.EJSON.stringify(_id)}`, bytes.toString("base64"));
    }
  }
  return all;
}

/** Describes how the restored documents differ. */
export function differences(before: Stored, after: Stored): string[] {
  const lost = [...before.keys()].filter((name) => !after.has(name)).map((name) => `${name} is missing`);
  const more = [...after.keys()].filter((name) => !before.has(name)).map((name) => `${name} was never there`);
  const changed = [...before].flatMap(([name, bytes]) => {
    const now = after.get(name);
    return now === undefined || now === bytes ? [] : [`${name} is ${shown(now)} instead of ${shown(bytes)}`];
  });
  return [...lost, ...more, ...changed];
}

/** The number of documents in each collection. */
export function countsOf(all: Stored): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of all.keys()) {
    const collection = name.slice(0, name.indexOf(" "));
    counts[collection] = (counts[collection] ?? 0) + 1;
  }
  return counts;
}

function shown(bytes: string): string {
  return BSON.EJSON.stringify(BSON.deserialize(Buffer.from(bytes, "base64"), { promoteValues: false }), {
    relaxed: false,
  }).slice(0, 600);
}
