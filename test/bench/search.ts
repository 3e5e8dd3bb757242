// Measures searches by account size: the same classes of queries in accounts of three sizes, with their times and what
// they examine.
import { create } from "@bufbuild/protobuf";
import type { MongoClient } from "mongodb";
import { SearchContactsRequestSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { connectMongo } from "../../src/db/mongo.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { SearchNotesRequestSchema } from "../../src/gen/records/v1/notes_pb.ts";
import { readScope } from "../../src/call/scope.ts";
import type { Services } from "../../src/app/services.ts";
import { createServices } from "../../src/app/services.ts";
import { explain } from "../fixtures/databases/explain.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import type { AccountPlan, DataPlan } from "./dataset/accounts.ts";
import { mainAccount, searchAccounts } from "./dataset/accounts.ts";
import { firstNames, languages } from "./dataset/texts.ts";
import type { BenchAccount, Fixture } from "./fixture.ts";
import type { Effort } from "./measure.ts";
import type { LoadClient } from "./processes.ts";
import { search } from "./requests.ts";
import type { SearchRow, SearchSize } from "./results.ts";
import { median } from "./results.ts";

type SearchClass = Pick<SearchRow, "list" | "title" | "comparable" | "words"> & { readonly queries: readonly string[] };
type SizedAccount = BenchAccount & AccountPlan;

const [first, second] = languages;
const noWord = ["zzyxq", "qqjwk", "xxvbn", "wwpft"];
const prefixes = ["an", "be", "co", "da", "el", "fa", "gu", "ha"];

/** Classes with the same number of hits at each size are compared; the rest is only reported. */
const classes: readonly SearchClass[] = [
  { list: "notes", title: "a frequent word", comparable: true, words: "one", queries: first.slice(10, 18) },
  {
    list: "notes",
    title: "a word of medium frequency",
    comparable: true,
    words: "one",
    queries: first.slice(300, 308),
  },
  { list: "notes", title: "two letters", comparable: true, words: "one", queries: prefixes },
  { list: "notes", title: "an unknown word", comparable: true, words: "one", queries: noWord },
  { list: "notes", title: "a rare word", comparable: false, words: "one", queries: first.slice(15_000, 15_008) },
  {
    list: "notes",
    title: "two words",
    comparable: true,
    words: "several",
    queries: together(first.slice(20, 28), first.slice(40, 48)),
  },
  {
    list: "notes",
    title: "three words",
    comparable: true,
    words: "several",
    queries: together(first.slice(4, 12), first.slice(12, 20), first.slice(20, 28)),
  },
  {
    list: "notes",
    title: "a frequent and an unknown word",
    comparable: true,
    words: "several",
    queries: together(first.slice(10, 14), noWord),
  },
  {
    list: "notes",
    title: "two frequent words that rarely meet, in two languages",
    comparable: false,
    words: "several",
    queries: together(first.slice(6, 10), second.slice(6, 10)),
  },
  { list: "contacts", title: "a frequent first name", comparable: true, words: "one", queries: firstNames.slice(0, 1) },
  { list: "contacts", title: "two letters", comparable: true, words: "one", queries: prefixes },
  { list: "contacts", title: "a name that nobody has", comparable: true, words: "one", queries: noWord },
  {
    list: "contacts",
    title: "first name and two letters",
    comparable: false,
    words: "several",
    queries: together(
      firstNames.slice(0, 8),
      prefixes.map(() => "ro"),
    ),
  },
];
/** Searches are short and need less time than a load. */
const shareOfSeconds = 1 / 3;

/** Measures all classes over one connection. Each round loads every account once, in rotating order. */
export async function measureSearches(
  fixture: Fixture,
  plan: DataPlan,
  reader: BenchAccount,
  port: number,
  client: LoadClient,
  { rounds, seconds }: Effort,
  say: (line: string) => void,
): Promise<SearchRow[]> {
  const accounts: SizedAccount[] = [];
  for (const name of searchAccounts) {
    const size = plan.accounts.find((account) => account.name === name) as AccountPlan;
    accounts.push({ ...(name === mainAccount ? reader : await fixture.account(name)), ...size });
  }
  const mongo = await connectMongo(fixture.mongodbUri, 30_000);
  const rows: SearchRow[] = [];
  try {
    for (const { queries, ...searched } of classes) {
      const sizes = [];
      for (const account of accounts)
        sizes.push({
          account,
          p50Ms: [] as number[],
          failed: 0,
          ...(await examine(mongo, account, searched.list, queries)),
        });
      for (let round = 0; round < rounds; round++) {
        for (const at of sizes.keys()) {
          const one = sizes[(at + round) % sizes.length] as (typeof sizes)[number];
          const requests = queries.map((query) => search(searched.list, query, one.account.key));
          const loaded = await client.run({
            port,
            connections: 1,
            seconds: seconds * shareOfSeconds,
            requests,
          });
          one.p50Ms[round] = loaded.p50Ms;
          one.failed += loaded.failed;
        }
      }
      rows.push({
        ...searched,
        sizes: sizes.map(({ account, ...figures }): SearchSize => ({ ...figures, records: account[searched.list] })),
      });
      say(
        `search     ${searched.list}, ${searched.title}: ${sizes.map(({ p50Ms, keys, documents, hits }) => `${median(p50Ms).toFixed(1)} ms (${hits} hits, ${keys} keys, ${documents} docs)`).join(", ")}`,
      );
    }
    return rows;
  } finally {
    await mongo.close();
  }
}

/** Runs each query once in this process, then explains each of its commands. */
async function examine(
  mongo: MongoClient,
  account: SizedAccount,
  list: SearchRow["list"],
  queries: readonly string[],
): Promise<Pick<SearchSize, "hits" | "keys" | "documents">> {
  const services = createServices(mongo);
  const hits: number[] = [];
  let [keys, documents] = [0, 0];
  for (const query of queries) {
    const monitor = listenToMongo(mongo);
    hits.push(await hitsOf(services, account, list, query));
    const reads = [];
    for (const { command } of monitor.stop()) reads.push(...(await explain(mongo, command)).reads);
    keys = Math.max(
      keys,
      reads.reduce((sum, read) => sum + read.keys, 0),
    );
    documents = Math.max(
      documents,
      reads.reduce((sum, read) => sum + read.documents, 0),
    );
  }
  return { hits: median(hits), keys, documents };
}

async function hitsOf(
  { contacts, notes }: Services,
  { id }: SizedAccount,
  list: SearchRow["list"],
  query: string,
): Promise<number> {
  const scope = readScope(id, deadlineIn(600_000));
  if (list === "contacts")
    return (await contacts.searchContacts(create(SearchContactsRequestSchema, { query }), scope)).contacts.length;
  return (await notes.searchNotes(create(SearchNotesRequestSchema, { query, limit: 15, offset: 0 }), scope)).notes
    .length;
}

function together(...lists: readonly (readonly string[])[]): string[] {
  return (lists[0] ?? []).map((_, at) => lists.map((list) => list[at] ?? "").join(" "));
}
