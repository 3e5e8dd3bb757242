// Reads what MongoDB finally committed from the primary's oplog: the successive values of every contact field, and
// every note.
import type { Document, MongoClient, Timestamp } from "mongodb";
import { UUID } from "mongodb";
import type { Fields } from "./operation.ts";
import { fieldNames } from "./operation.ts";

/** A value that a field had. */
export interface Value {
  readonly value: string | null;
  /** When the primary applied the write, in milliseconds of this machine's clock. */
  readonly at: number;
}

export interface Committed {
  /** The successive values of a contact's field. */
  values(contact: string, field: keyof Fields): readonly Value[];
  /** When each text was written, once per note that has it. */
  readonly notes: ReadonlyMap<string, readonly number[]>;
  /** The ids of the contacts that were created under this name. */
  readonly created: ReadonlyMap<string, readonly string[]>;
}

/** One change of an oplog entry. */
interface Change {
  readonly op: string;
  readonly ns: string;
  readonly o: Document;
  readonly o2?: Document;
}

/** The oplog is local to each member, so a majority read does not apply. */
const anywhere = { readConcern: { level: "local" } } as const;

/** The newest entry, at which the history of a round starts. */
export async function lastEntry(client: MongoClient): Promise<Timestamp> {
  const [last] = await client
    .db("local")
    .collection("oplog.rs")
    .find({}, { sort: { $natural: -1 }, limit: 1, projection: { ts: 1 }, ...anywhere })
    .toArray();
  if (last === undefined) throw new Error("the oplog is empty");
  return last["ts"] as Timestamp;
}

/**
 * Reads what was committed since that entry. Every member must follow the primary by now, so nothing is rolled back
 * later.
 */
export async function readCommitted(client: MongoClient, since: Timestamp): Promise<Committed> {
  const fields = new Map<string, Value[]>();
  const notes = new Map<string, number[]>();
  const created = new Map<string, string[]>();
  const entries = client
    .db("local")
    .collection("oplog.rs")
    .find({ ts: { $gt: since }, op: { $in: ["i", "u", "c"] } }, { sort: { $natural: 1 }, ...anywhere });
  for await (const { op, ns, o, o2, wall } of entries) {
    const nested = op === "c" ? ((o as Document)["applyOps"] as Change[] | undefined) : [{ op, ns, o, o2 } as Change];
    for (const change of nested ?? []) take(change, (wall as Date).getTime());
  }

  function take({ op, ns, o, o2 }: Change, at: number): void {
    if (op === "i" && ns === "records.notes") kept(notes, String(o["content"])).push(at);
    if (ns !== "records.contacts") return;
    const id = op === "i" ? o["_id"] : o2?.["_id"];
    if (!(id instanceof UUID)) return;
    if (op === "i") kept(created, String(o["full_name"])).push(id.toHexString());
    const changed = fieldsOf(op, o);
    for (const name of fieldNames) {
      const value = changed[name];
      if (value === undefined) continue;
      const order = kept(fields, `${id.toHexString()} ${name}`);
      if (order.at(-1)?.value !== value) order.push({ value, at });
    }
  }
  return { values: (contact, field) => fields.get(`${contact} ${field}`) ?? [], notes, created };
}

/** The fields in a change: a whole document, or the fields that an update sets, adds and removes. */
function fieldsOf(op: string, o: Document): Partial<Fields> {
  if (op === "i" || o["$v"] === undefined) return picked(o);
  const { u = {}, i = {}, d = {} } = (o["diff"] ?? {}) as { u?: Document; i?: Document; d?: Document };
  const removed = Object.fromEntries(Object.keys(d).map((name) => [name, null]));
  return picked({ ...removed, ...u, ...i });
}

function picked(document: Document): Partial<Fields> {
  return Object.fromEntries(
    fieldNames.filter((name) => name in document).map((name) => [name, document[name] as string | null]),
  );
}

function kept<V>(map: Map<string, V[]>, name: string): V[] {
  const known = map.get(name) ?? [];
  map.set(name, known);
  return known;
}
