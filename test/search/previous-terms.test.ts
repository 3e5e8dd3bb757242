// Search terms of the previous release: searches are right before, while and after `records migrate` rebuilds them
// (contract §3).
import { UUID } from "mongodb";
import type { Document } from "mongodb";
import { beforeAll, expect, test } from "vitest";
import { previousTermsOf } from "../../src/db/previous-terms.ts";
import { termsField, textField } from "../../src/db/search-fields.ts";
import { migrate } from "../cli/migrate.ts";
import type { Client } from "../support/client.ts";
import { ids, newClient, useService } from "../support/client.ts";

const service = useService();
let client: Client;
let ram = "";
let rama = "";
let muller = "";
let session = "";

/** Stores terms as the previous release did. */
async function setTerms(collection: string, id: string, text: string, terms: readonly string[]): Promise<void> {
  const stored = { [textField]: text, [termsField]: terms };
  const records = service().app.client.db().collection<{ _id: UUID } & Document>(collection);
  await records.updateOne(
    { _id: new UUID(id) },
    { $set: { ...stored, ...(collection === "sessions" ? { own: stored } : {}) } },
  );
}

async function find(path: string): Promise<string[]> {
  return ids(await client.get(path));
}

const contactsFor = (query: string): Promise<string[]> => find(`/v1/contacts?query=${encodeURIComponent(query)}`);

beforeAll(async () => {
  client = await newClient(service());
  [ram = "", muller = ""] = await client.put.contacts({ full_name: "राम" }, { full_name: "Hanna Müller" });
  session = await client.put.session({ title: "Kick-off" });
  const [note = ""] = await client.put.contactNotes({
    contact_id: muller,
    content: "C is her e-mail",
    source: "import",
  });
  await setTerms("contacts", ram, " रम #", ["र", "रम", "रम "]);
  await setTerms("contacts", muller, " hanna muller # ", [
    ..."hanna muller".split(" ").flatMap(prefixes),
    "hanna ",
    "muller ",
  ]);
  await setTerms("sessions", session, " kick off ", ["kick", "off"].flatMap(prefixes));
  await setTerms("notes", note, " c is her e mail ", ["is", "he", "her", "ma", "mai", "mail"]);
  // A contact of this release beside them.
  rama = await client.put.contact({ full_name: "रमा" });
  expect(await previousTermsOf(service().app.client).check()).toEqual(["notes", "sessions", "contacts"]);
});

function prefixes(word: string): string[] {
  return Array.from(word, (_, at) => word.slice(0, at + 1));
}

test("before the rebuild, records of both releases are found, each by the rules of its terms [SRC-01, SRC-04]", async () => {
  expect(await contactsFor("राम")).toEqual([ram]);
  expect(await contactsFor("रमा")).toEqual([rama, ram]);
  expect(await contactsFor("muller hanna")).toEqual([muller]);
  expect(await contactsFor("mueller")).toEqual([]);
  expect(await find("/v1/sessions?query=kick-off")).toEqual([session]);
  const notes = (query: string) => client.get(`/v1/notes?query=${query}`);
  expect((await notes("c%20mail")).body.data).toHaveLength(1);
  expect((await notes("c++")).body.data).toHaveLength(1);
  expect((await notes("e-mail")).body.data).toHaveLength(1);
});

test("records migrate rebuilds them, and then every record is found by the rules of this release [SRC-01, SRC-04, CSR-11]", async () => {
  const environment = { MONGODB_URI: service().mongodbUri };
  expect(await migrate(environment)).toMatchObject({ code: 0, result: { rebuilt: 4 } });
  expect(await previousTermsOf(service().app.client).check()).toEqual([]);
  expect(await contactsFor("राम")).toEqual([ram]);
  expect(await contactsFor("रमा")).toEqual([rama]);
  expect(await contactsFor("mueller")).toEqual([muller]);
  expect(await find("/v1/sessions?query=kickoff")).toEqual([session]);
  expect((await client.get("/v1/notes?query=email")).body.data).toHaveLength(1);
  expect((await client.get("/v1/notes?query=c%2B%2B")).body.data).toHaveLength(1);
  expect(await migrate(environment)).toMatchObject({ code: 0, result: { rebuilt: 0 } });
});
