// Texts that break the rules of who may touch MongoDB, and texts that keep them.
import type { Row } from "./planted-accesses.ts";
import { foreign } from "./planted-accesses.ts";

/** A file that is planted in a folder, and what the rules have to say about it: nothing, where it is good. */
export interface Planted {
  readonly what: string;
  readonly folder: string;
  readonly text: string;
  readonly problem?: RegExp;
}

/** What the planted files have, so that each text may use what it needs. */
const head = `// A text that is only checked.
import type { ClientSession, Collection, Db, Document, MongoClient, UUID } from "mongodb";
import { aggregate, countUpTo, findAll } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import { requireNotFenced } from "../db/fence.ts";
import { insertRecord } from "../db/insert.ts";
import { putStored, addStored as addAll } from "../db/put-stored.ts";
import { read } from "../db/read.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit, transaction, write } from "../db/write.ts";
import type { Scope, WriteScope } from "../call/scope.ts";

declare const client: MongoClient;
declare const db: Db;
declare const scope: Scope & WriteScope;
declare const deadline: Scope["deadline"];
declare const account_id: UUID;
declare const documents: Document[];
const contacts = client.db().collection(collections.contacts);
const log = client.db().collection(collections.auditLog);
const notes = client.db().collection(collections.notes);
const sessions = client.db().collection(collections.sessions);
`;

const named: readonly Row[] = [
  ["a collection by a text", "src/audit", /opens a collection/, 'client.db().collection("contacts");'],
  ["a collection by a template", "src/audit", /opens a collection/, "client.db().collection(`contacts`);"],
  ["a collection by a constant", "src/audit", /opens a collection/, 'const name = "contacts"; db.collection(name);'],
  ["the constant itself", "src/audit", /names a collection/, 'const name = "contacts"; db.collection(name);'],
  ["a collection in brackets", "src/audit", /opens a collection/, 'db["collection"]("contacts");'],
  [
    "a collection by what is given",
    "src/audit",
    /opens a collection/,
    'const named = (some: Db, what: string) => some.collection(what); named(db, "contacts");',
  ],
  ["`collection` handed on", "src/audit", /without calling it/, "const open = db.collection.bind(db);"],
  ["a stage that names one", "src/audit", /names a collection/, 'const stage = { $unionWith: { coll: "notes" } };'],
  ["the driver's client", "gateway", /takes MongoClient/, 'import { MongoClient as Mine } from "mongodb";'],
  ["the whole driver", "src/contacts", /takes everything/, 'import * as driver from "mongodb";'],
  ["the driver, loaded later", "src/contacts", /takes everything/, 'const driver = await import("mongodb");'],
  ["the driver, for others", "src/contacts", /takes Collection/, 'export { Collection as Mine } from "mongodb";'],
];

const loose: readonly Row[] = [
  ["a write without options", "src/notes", /without the options/, "await notes.deleteMany({ account_id });"],
  [
    "a write with options of its own",
    "src/notes",
    /is not what a write hands out/,
    "const options = {}; await notes.updateMany({ account_id }, { $set: { label: null } }, options);",
  ],
  [
    "options of the right type",
    "src/notes",
    /is not what a write hands out/,
    "const options: WriteOptions = {}; await notes.deleteMany({ account_id }, options);",
  ],
  [
    "options that are made for another",
    "src/notes",
    /makes WriteOptions itself/,
    "declare const remove: (options: WriteOptions) => Promise<void>; await remove({});",
  ],
  [
    "options that are made for another, by a name",
    "src/notes",
    /makes WriteOptions itself: none/,
    "declare const remove: (options: WriteOptions) => Promise<void>; const none = {}; await remove(none);",
  ],
  [
    "a session that may be missing",
    "src/notes",
    /is not what a write hands out/,
    "declare const session: ClientSession | undefined; await notes.deleteMany({ account_id }, { session } as object);",
  ],
  ["a read past src/db", "src/notes", /without the options/, "await notes.findOne({ account_id });"],
  [
    "a deletion by a filter that is spread",
    "src/notes",
    /deleteMany names no account/,
    "const filter = { kind: 1 }; await write(client, deadline, (options) => notes.deleteMany({ ...filter }, options));",
  ],
  [
    "an update by a parent alone",
    "src/notes",
    /updateMany names no account/,
    "await write(client, deadline, (options) => notes.updateMany({ parent_id: 1 }, { $set: {} }, options));",
  ],
  [
    "a deletion in the log of all",
    "src/audit",
    /deleteMany names no account/,
    "await transaction(client, deadline, (session) => log.deleteMany({}, { session }));",
  ],
  [
    "a condition on all accounts but one",
    "src/notes",
    /findAll names no account/,
    "await findAll(notes, { account_id: { $ne: account_id } }, { deadline });",
  ],
  ["a find of all accounts", "src/notes", /findAll names no account/, "await findAll(notes, {}, { deadline });"],
  [
    "a count of all accounts",
    "src/notes",
    /countUpTo names no account/,
    "await countUpTo(notes, 1, {}, { deadline });",
  ],
  [
    "a look at all accounts after a write that matched nothing",
    "src/notes",
    /requireNotFenced names no account/,
    "await requireNotFenced(notes, {}, deadline);",
  ],
  [
    "an aggregation of all accounts",
    "src/notes",
    /aggregate names no account/,
    'await aggregate(notes, [{ $match: { kind: "contact" } }], { deadline });',
  ],
  [
    "a read of all accounts",
    "src/notes",
    /read names no account/,
    'await read(notes, scope, [{ $match: { kind: "contact" } }]);',
  ],
  [
    "an account that may be missing",
    "src/notes",
    /findAll names no account/,
    "declare const some: { account_id?: UUID }; await findAll(notes, some, { deadline });",
  ],
];

const good: readonly (readonly [what: string, folder: string, text: string])[] = [
  [
    "a write of its own, in a transaction",
    "src/notes",
    "await transaction(client, deadline, (session) => notes.deleteMany({ account_id }, { session }));",
  ],
  [
    "a write of its own, by what a write hands out",
    "src/notes",
    "await write(client, deadline, (options, fence) => notes.deleteMany({ account_id, ...fence }, options));",
  ],
  [
    "a write with more options",
    "src/notes",
    'await write(client, deadline, (options) => notes.deleteMany({ account_id }, { hint: "records", ...options }));',
  ],
  [
    "a collection that is given to a function of the room",
    "src/sessions",
    [
      "async function clear(some: Collection, options: WriteOptions): Promise<void> {",
      "  await some.updateMany({ account_id }, { $set: { title: null } }, options);",
      "}",
      "await commit(client, scope, undefined, (options) => clear(sessions, options));",
    ].join("\n"),
  ],
  ["a read of one account", "src/notes", "await read(notes, scope, [{ $match: { account_id, kind: 1 } }]);"],
  [
    "a find in an array, and a map's drop",
    "src/notes",
    "documents.find(() => true); const { size } = new Map([[1, 2]]);",
  ],
  ["an id", "gateway", 'import { UUID as Id } from "mongodb"; export const one = new Id();'],
  ["a type", "gateway", 'import type { MongoClient as Client } from "mongodb"; export type Mine = Client;'],
  ["the name of a collection in a type", "src/notes", 'export type Name = "contacts" | "notes";'],
];

/** Each breaks a rule. */
export const bad: readonly Planted[] = [...foreign, ...named, ...loose].map(([what, folder, problem, text]) => ({
  what,
  folder,
  problem,
  text: folder === "gateway" ? `// A text that is only checked.\n${text}\n` : `${head}${text}\nexport {};\n`,
}));

/** Each keeps all of them. */
export const kept: readonly Planted[] = good.map(([what, folder, text]) => ({
  what,
  folder,
  text: folder === "gateway" ? `// A text that is only checked.\n${text}\n` : `${head}${text}\nexport {};\n`,
}));
