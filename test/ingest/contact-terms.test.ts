// Contacts with long names in scripts without blanks, which have hundreds of search terms.
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";

const service = useService();

/** A name of 200 different characters, with about 800 search terms. */
const name = (at: number): string =>
  Array.from({ length: 200 }, (_, index) =>
    String.fromCodePoint(0x4e00 + ((at * 7919 + index * 104_729) % 20_000)),
  ).join("");

test("a batch of contacts with more search terms than MongoDB can index in time is rejected, with the number that fit [ING-01]", async () => {
  const client = await newClient(service());
  const contacts = Array.from({ length: 1_000 }, (_, at) => ({ external_id: `${at}`, full_name: name(at) }));
  const { body } = await service().internalCall("records.ingest.v1.IngestService/UpsertContacts", {
    account_id: client.id,
    contacts,
  });
  expect(body).toMatchObject({ code: "invalid_argument" });
  const fit = Number(
    /^a batch must have at most 300,000 search terms; the first (\d+) items fit/.exec(body.message)?.[1],
  );
  const results = await client.put.send("UpsertContacts", "contacts", contacts.slice(0, fit));
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
});
