// Restores ends of sessions: a restore never moves an end back.
import type { ClientSession, Collection, Document } from "mongodb";
import { BSON } from "mongodb";
import { addStored } from "../db/put-stored.ts";
import type { SessionEndDocument } from "../sign-in/ended-store.ts";
import { laterThanOf } from "../sign-in/ended-store.ts";

/** Adds ends. If an end exists already, the later times of both stay. */
export async function putEnds(
  collection: Collection<Document>,
  ends: readonly Document[],
  session: ClientSession,
): Promise<void> {
  const ids = ends.map(({ _id }) => _id as never);
  const existing = await collection.find({ _id: { $in: ids } }, { session }).toArray();
  await addStored(collection, ends, session);
  const restored = new Map(ends.map((end) => [nameOf(end), end as SessionEndDocument]));
  const moved = existing.flatMap((end) => {
    const replacement = later(end as never, restored.get(nameOf(end)) as SessionEndDocument);
    return replacement === undefined ? [] : [{ replaceOne: { filter: { _id: end._id }, replacement } }];
  });
  if (moved.length > 0) await collection.bulkWrite(moved, { session });
}

/** Returns the existing end with later times; undefined if it has them, or if its own times cannot be read. */
function later(existing: SessionEndDocument, restored: SessionEndDocument): Document | undefined {
  const [own, other] = [laterThanOf(existing), laterThanOf(restored)];
  if (other <= own && restored.ended_at <= existing.ended_at) return undefined;
  if (own === Infinity) return undefined;
  return {
    ...existing,
    ended_at: new Date(Math.max(existing.ended_at.getTime(), restored.ended_at.getTime())),
    ...(existing.later_than === undefined && restored.later_than === undefined
      ? {}
      : { later_than: new Date(Math.max(own, other)) }),
  };
}

function nameOf({ _id }: Document): string {
  return BSON.EJSON.stringify(_id as object);
}
