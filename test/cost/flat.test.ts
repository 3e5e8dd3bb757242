// Tests that a search examines the same number of keys and documents in accounts of any size, as MongoDB explains the
// service's commands.
import type { Document } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { AccountSize } from "./data.ts";
import { fill, fillWithOnes } from "./data.ts";
import type { Examined } from "../fixtures/databases/explain.ts";
import { explain } from "../fixtures/databases/explain.ts";

const sizes: readonly AccountSize[] = [
  { contacts: 100, sessions: 100, notes: 100 },
  { contacts: 500, sessions: 500, notes: 2_000 },
  { contacts: 1_100, sessions: 1_100, notes: 11_000 },
];
let service: TestService;
let accounts: { account: TestAccount; contactId: string }[];

beforeAll(async () => {
  service = await startService();
  accounts = [];
  for (const size of sizes) {
    const account = await service.account();
    const { contactIds } = await fill(service.app.client, account.id, size);
    accounts.push({ account, contactId: String(contactIds[3]) });
    // From now on, the instance has cached the key and verifies it together with the data.
    await service.rest("/v1/sessions", { key: account.key });
  }
});
afterAll(async () => {
  await service.stop();
});

/** What each aggregation of a request examines, for each account. */
async function examined(path: (contactId: string) => string): Promise<Examined[][]> {
  const all: Examined[][] = [];
  for (const { account, contactId } of accounts) {
    const listening = listenToMongo(service.app.client);
    const { status } = await service.rest(path(contactId), { key: account.key });
    expect(status).toBe(200);
    const commands: Document[] = listening.stop().map(({ command }) => command);
    all.push(await Promise.all(commands.map((command) => explain(service.app.client, command))));
  }
  return all;
}

/** Checks that all accounts are equal, and returns the first. */
function flat(all: readonly Examined[][]): Examined[] {
  for (const one of all) expect(one).toEqual(all[0]);
  return all[0] ?? [];
}

/** The check of the API key: one key of `_id_`, one document. */
const proof = { collection: "api_keys", index: "_id_", keys: 1, documents: 1 };

describe.each([
  ["a word", "budget"],
  ["two letters", "bu"],
  ["eight letters of a longer word", "internat"],
])("notes with %s common to all", (_name, query) => {
  test.each([
    [0, 1],
    [0, 20],
    [60, 15],
  ])("offset %i, limit %i: reads the page and one more from the index, in order [SRC-08]", async (offset, limit) => {
    const [found, ...more] = flat(await examined(() => `/v1/notes?query=${query}&offset=${offset}&limit=${limit}`));
    expect(more).toEqual([]);
    expect(found).toEqual({
      sorts: false,
      reads: [{ collection: "notes", index: "search", keys: offset + limit + 1, documents: limit + 1 }, proof],
    });
  });
});

test("a rare word costs its matches, and an unknown word costs nothing [SRC-08]", async () => {
  const [rare] = flat(await examined(() => "/v1/notes?query=rarely&limit=20"));
  expect(rare).toEqual({
    sorts: false,
    reads: [{ collection: "notes", index: "search", keys: 3, documents: 3 }, proof],
  });
  const [nothing] = flat(await examined(() => "/v1/notes?query=nowhere&limit=20"));
  expect(nothing).toEqual({
    sorts: false,
    reads: [{ collection: "notes", index: "search", keys: 0, documents: 0 }, proof],
  });
});

test("a deep page of notes skips index keys and reads no documents of earlier pages [SRC-08]", async () => {
  const [, , large = []] = await examined(() => "/v1/notes?query=budget&offset=10000&limit=20");
  expect(large.map(({ reads }) => reads)).toEqual([
    [{ collection: "notes", index: "search", keys: 10_021, documents: 21 }, proof],
  ]);
});

test("reads sessions, with a word or of a contact, from an index [SRC-08]", async () => {
  const page = { keys: 21, documents: 21 };
  const [list] = flat(await examined(() => "/v1/sessions?limit=20"));
  expect(list).toEqual({ sorts: false, reads: [{ collection: "sessions", index: "list", ...page }, proof] });
  const [later] = flat(await examined(() => "/v1/sessions?limit=20&offset=60"));
  expect(later).toEqual({
    sorts: false,
    reads: [{ collection: "sessions", index: "list", keys: 81, documents: 21 }, proof],
  });
  const [word] = flat(await examined(() => "/v1/sessions?limit=20&query=meeting"));
  expect(word).toEqual({ sorts: false, reads: [{ collection: "sessions", index: "search", ...page }, proof] });
  const [dated] = flat(await examined(() => "/v1/sessions?limit=5&query=meeting&from=2020-01-01"));
  expect(dated).toEqual({
    sorts: false,
    reads: [{ collection: "sessions", index: "search", keys: 6, documents: 6 }, proof],
  });
  const [of] = flat(await examined((contactId) => `/v1/sessions?limit=5&contact_id=${contactId}`));
  expect(of).toEqual({
    sorts: false,
    reads: [{ collection: "sessions", index: "contact", keys: 6, documents: 6 }, proof],
  });
});

/** The look-up of a full name that no contact has. */
const looked = { collection: "contacts", index: "search", keys: 0, documents: 0 };

test("each tier of a contact search reads 25 from the index in order, however many match [SRC-08]", async () => {
  const [found] = flat(await examined(() => "/v1/contacts?query=every"));
  const tier = { collection: "contacts", index: "search", keys: 25, documents: 25 };
  expect(found?.reads.filter(({ collection }) => collection === "contacts")).toEqual([looked, tier, tier, tier]);
  expect(found?.reads.at(-1)).toEqual(proof);
});

test("counts several words using only the index, up to 200 each, and then searches the page [SRC-08]", async () => {
  const all = await examined(() => "/v1/notes?query=budget+every&limit=20");
  const counted = all.map((commands) =>
    commands.slice(0, -1).map(({ reads }) => reads.filter(({ collection }) => collection === "notes")),
  );
  const both = (keys: number) => [
    { collection: "notes", index: "search", keys, documents: 0 },
    { collection: "notes", index: "search", keys, documents: 0 },
  ];
  expect(counted).toEqual([[both(100)], [both(200)], [both(200)]]);
  const last = all.map((commands) => commands.at(-1)?.reads[0]);
  expect(last).toEqual(sizes.map(() => ({ collection: "notes", index: "search", keys: 21, documents: 21 })));
});

test.each([
  ["notes", "/v1/notes?limit=20&query=budget+every+rarely"],
  ["sessions", "/v1/sessions?limit=20&query=rarely+meeting+every"],
])(
  "the rarest of several words in %s drives the search: 3 keys and 3 documents, however frequent the others are [SRC-08]",
  async (collection, path) => {
    for (const commands of await examined(() => path)) {
      expect(commands.at(-1)).toEqual({
        sorts: false,
        reads: [{ collection, index: "search", keys: 3, documents: 3 }],
      });
    }
  },
);

/** The total number of keys and documents of a collection that a request examines in the largest account. */
async function largest(collection: string, path: string): Promise<{ keys: number; documents: number }> {
  const commands = (await examined(() => path)).at(-1) ?? [];
  const reads = commands
    .flatMap(({ sorts, reads: own }) => (expect(sorts).toBe(false), own))
    .filter((one) => one.collection === collection);
  return {
    keys: reads.reduce((sum, { keys }) => sum + keys, 0),
    documents: reads.reduce((sum, { documents }) => sum + documents, 0),
  };
}

test.each([
  ["unknown long words", "/v1/notes?query=internationalz+internationalx", 11_400],
  ["an unknown long word whose first letters all notes have", "/v1/notes?query=internationalz", 10_400],
  ["two words common to all notes and an unknown long one", "/v1/notes?query=budget+every+internationalz", 23_800],
])(
  "examines at most 5,000 notes, however many there are, and the newest 200 of them twice: %s [SRC-10]",
  async (_name, path, keys) => {
    expect(await largest("notes", path)).toEqual({ keys, documents: 5_200 });
  },
);

test("a query of many words examines at most 40,000 keys [SRC-10]", async () => {
  const query = Array.from(
    { length: 20 },
    (_, at) => "budgetinternationalisation".slice(0, 2 + (at % 5)) + (at >= 5 ? " every" : ""),
  ).join("+");
  const { keys } = await largest("notes", `/v1/notes?query=${encodeURIComponent(query.slice(0, 100))}`);
  expect(keys).toBeLessThanOrEqual(40_000);
});

test("a query of many numbers examines at most 40,000 keys and 20,000 contacts, however it is read [SRC-10, CSR-08]", async () => {
  const account = await service.account();
  await fillWithOnes(service.app.client, account.id, 6_000);
  await service.rest("/v1/sessions", { key: account.key });
  const listening = listenToMongo(service.app.client);
  const { body } = await service.rest(`/v1/contacts?query=every${"+1".repeat(10)}`, { key: account.key });
  const commands = listening.stop().map(({ command }) => command);
  expect(body.data).toEqual([]);
  const all = await Promise.all(commands.map((command) => explain(service.app.client, command)));
  const reads = all.flatMap((one) => one.reads).filter(({ collection }) => collection === "contacts");
  expect(reads.reduce((sum, { documents }) => sum + documents, 0)).toBeLessThanOrEqual(20_000);
  const keys = reads.reduce((sum, one) => sum + one.keys, 0);
  expect(keys).toBeGreaterThan(20_000);
  expect(keys).toBeLessThanOrEqual(40_000);
});

test("finds all matches among the examined notes, in order, page by page [SRC-10, PAG-03]", async () => {
  const large = accounts.at(-1)?.account;
  const found = async (offset: number) =>
    (await service.rest(`/v1/notes?query=tenth+ev&limit=25&offset=${offset}`, { key: large?.key })).body;
  const [first, second] = [await found(0), await found(25)];
  const contents = [...first.data, ...second.data].map(({ content }: { content: string }) => content);
  expect(contents).toEqual(Array.from({ length: 50 }, (_, at) => `every tenth internationalisation${at * 10} budget`));
  const rare = (await service.rest("/v1/notes?query=rarely+ev", { key: large?.key })).body;
  expect(rare.data).toHaveLength(3);
});

/** What the last command for each account reads from contacts. */
async function contactsRead(query: string): Promise<Examined["reads"][]> {
  return (await examined(() => `/v1/contacts?query=${query}`)).map(
    (commands) => commands.at(-1)?.reads.filter(({ collection }) => collection === "contacts") ?? [],
  );
}

test.each(["every+rarely", "every+rarely+ann"])(
  "the rarest of several words in contacts drives one scan for all tiers: %s [SRC-08, CSR-11]",
  async (query) => {
    expect(await contactsRead(query)).toEqual(
      sizes.map(() => [looked, { collection: "contacts", index: "search", keys: 3, documents: 3 }]),
    );
  },
);

test.each([
  ["email", "a77%40example.com", 1],
  ["phone", "%2B49+30+1000077", 1],
  ["national phone number", "030+1000077", 1],
  ["name", "every+other+internationalisation77+ann77", 1],
])(
  "a query that is a contact's full %s finds it with a look-up that only reads that contact [SRC-08, CSR-11]",
  async (_name, query, documents) => {
    const first = (await contactsRead(query)).map(([own]) => own);
    expect(first).toEqual(sizes.map(() => ({ collection: "contacts", index: "search", keys: documents, documents })));
  },
);

test("a misspelled name costs a look-up of each correction, plus the contacts that have one [SRC-08, CSR-11]", async () => {
  const all = await examined(() => "/v1/contacts?query=raerly");
  const reads = all.map((commands) => commands.at(-2)?.reads.filter(({ collection }) => collection === "contacts"));
  for (const one of reads) expect(one).toEqual(reads[0]);
  expect(reads[0]?.reduce((sum, { documents }) => sum + documents, 0)).toBe(3);
  expect(reads[0]?.reduce((sum, { keys }) => sum + keys, 0)).toBeLessThan(600);
});

test("a word whose beginning no name has costs a look-up of its prefixes, but none of its corrections [SRC-08, CSR-11]", async () => {
  const { key } = await service.account();
  await service.rest("/v1/contacts", { key, body: { full_name: "Roswitha" } });
  const termsOf = async (query: string): Promise<number> => {
    const listener = listenToMongo(service.app.client);
    await service.rest(`/v1/contacts?query=${query}`, { key });
    return JSON.stringify(listener.stop().map(({ command }) => command)).split('="').length;
  };
  expect(await termsOf("rbswitha")).toBeLessThan(20);
  // Only the letters after the beginning of a name can be wrong.
  expect(await termsOf("roswxtha")).toBeGreaterThan(100);
  expect(await termsOf("roxwxtha")).toBeLessThan(100);
});

test("a query with a hyphen, read as two words and as one, costs a page of each without sorting, in accounts of any size [SRC-08, SRC-10]", async () => {
  for (const path of ["/v1/notes?limit=20&query=rarely-budget", "/v1/sessions?limit=20&query=rarely-meeting"])
    for (const commands of await examined(() => path))
      expect(commands.at(-1)).toMatchObject({ sorts: false, reads: [{ index: "search", keys: 3, documents: 3 }] });
});

test("reads a contact, its notes and its sessions from indexes without sorting [SRC-08]", async () => {
  const all = await examined((contactId) => `/v1/contacts/${contactId}`);
  // Ten contacts share the sessions; a contact has 1, 4 and 10 notes.
  const notes = [1, 4, 10].map((count) => ({ collection: "notes", index: "parent", keys: count, documents: count }));
  const sessions = { collection: "sessions", index: "contact", keys: 5, documents: 5 };
  for (const [at, commands] of all.entries()) {
    expect(commands).toEqual([
      {
        sorts: false,
        reads: [{ collection: "contacts", index: "_id_", keys: 1, documents: 1 }, notes[at], sessions, proof],
      },
    ]);
  }
});
