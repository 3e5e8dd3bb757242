// Texts that reach MongoDB by what their file may not use, or write to the collection of another room.

/** What a text shows, the folder that it is planted in, what the rules say about it, and the text. */
export type Row = readonly [what: string, folder: string, problem: RegExp, text: string];

/** Uses of the driver, in every form that the language has. */
export const foreign: readonly Row[] = [
  ["a member in brackets", "src/audit", /writes contacts/, 'await contacts["deleteMany"]({});'],
  ["a member in a template", "src/audit", /writes contacts/, "await contacts[`deleteMany`]({});"],
  [
    "a member that is computed",
    "src/audit",
    /Collection\.\?/,
    'await contacts[("delete" + "Many") as "deleteMany"]({});',
  ],
  ["a member from a pattern", "src/audit", /uses Collection.deleteMany/, "const { deleteMany } = contacts;"],
  ["a member renamed in a pattern", "src/audit", /uses Collection.drop/, "const { drop: end } = contacts;"],
  ["a member in an assignment", "src/audit", /uses Collection.drop/, "let end; ({ drop: end } = contacts);"],
  ["a member that is not called", "src/contacts", /uses Collection.deleteMany/, "const all = contacts.deleteMany;"],
  [
    "a member of a type's part",
    "src/audit",
    /uses \?.deleteMany/,
    ['const wipe = (some: Pick<Collection, "deleteMany">) => some.deleteMany({});', "await wipe(contacts);"].join("\n"),
  ],
  [
    "a member of a type of its own",
    "src/audit",
    /uses \?.deleteMany/,
    [
      "const wipe = (some: { deleteMany(filter: object): Promise<unknown> }) => some.deleteMany({});",
      "await wipe(contacts);",
    ].join("\n"),
  ],
  [
    "a collection that is cast away",
    "src/audit",
    /casts a Collection away/,
    "await (contacts as unknown as { drop(): Promise<unknown> }).drop();",
  ],
  [
    "a collection that is given to a type of its own",
    "src/audit",
    /gives a Collection away/,
    "const end = (some: { drop(): Promise<unknown> }) => some.drop(); await end(contacts);",
  ],
  [
    "a collection that becomes a name of a type of its own",
    "src/audit",
    /gives a Collection away/,
    "const some: { drop(): Promise<unknown> } = contacts; await some.drop();",
  ],
  [
    "a member by reflection",
    "src/audit",
    /reflects on a Collection/,
    'const all: unknown = Reflect.get(contacts, "deleteMany");',
  ],
  [
    "a bulk operation",
    "src/audit",
    /uses Collection.initializeUnorderedBulkOp/,
    "const bulk = contacts.initializeUnorderedBulkOp(); bulk.raw({ deleteMany: { filter: {} } }); await bulk.execute();",
  ],
  [
    "a bulk operation that is handed on",
    "src/audit",
    /uses BulkOperationBase.execute/,
    'export const run = (bulk: ReturnType<Collection["initializeOrderedBulkOp"]>) => bulk.execute();',
  ],
  ["a bulk write of the client", "src/audit", /uses MongoClient.bulkWrite/, "await client.bulkWrite([]);"],
  [
    "a stage that writes",
    "src/audit",
    /has the stage \$merge/,
    "await aggregate(log, [{ $merge: { into: collections.contacts } }], { deadline: undefined });",
  ],
  [
    "a stage in brackets",
    "src/audit",
    /has the stage \$out/,
    'await aggregate(log, [{ ["$out"]: collections.contacts }], { deadline: undefined });',
  ],
  [
    "a command",
    "src/audit",
    /uses Db.command/,
    "const database = client.db(); await database.command({ insert: collections.contacts, documents: [{}] });",
  ],
  ["a command by a text", "src/audit", /uses Db.command/, 'await db.command({ delete: "contacts", deletes: [] });'],
  [
    "a helper of src/db",
    "src/audit",
    /writes contacts/,
    "await transaction(client, deadline, (session) => putStored(contacts, documents, {}, session));",
  ],
  [
    "a helper by another name",
    "src/audit",
    /writes contacts/,
    "await transaction(client, deadline, (session) => addAll(contacts, documents, session));",
  ],
  ["a helper that is handed on", "src/audit", /hands on putStored/, "export const put = putStored;"],
  [
    "an insert",
    "src/audit",
    /writes contacts/,
    "await insertRecord(client, scope, contacts as Collection<never>, {} as never, undefined);",
  ],
  [
    "a parameter with the name of another collection",
    "src/sessions",
    /writes contacts/,
    [
      "async function wipe(sessions: Collection, options: WriteOptions): Promise<void> {",
      "  await sessions.updateMany({ account_id }, { $set: { title: null } }, options);",
      "}",
      "await commit(client, scope, undefined, (options) => wipe(contacts, options));",
    ].join("\n"),
  ],
  [
    "a parameter that nobody gives",
    "src/notes",
    /nothing says which collection notes is/,
    [
      "export const clear = (notes: Collection, options: WriteOptions) => notes.deleteMany({ account_id }, options);",
    ].join("\n"),
  ],
  ["a collection that is dropped", "src/contacts", /uses Collection.drop/, "await contacts.drop();"],
  [
    "a collection that is dropped by name",
    "src/audit",
    /uses Db.dropCollection/,
    "await db.dropCollection(collections.notes);",
  ],
  ["a database that is dropped", "src/audit", /uses Db.dropDatabase/, "await client.db().dropDatabase();"],
  ["an index", "src/contacts", /uses Collection.createIndex/, "await contacts.createIndex({ email: 1 });"],
  [
    "a transaction of its own",
    "src/contacts",
    /uses ClientSession.startTransaction/,
    "export const begin = (session: ClientSession) => session.startTransaction();",
  ],
  ["a session of its own", "src/contacts", /uses MongoClient.startSession/, "const session = client.startSession();"],
  ["an aggregation past the lease", "src/contacts", /uses Collection.aggregate/, "contacts.aggregate([]);"],
];
