// GET /v1/sessions with a query: which fields of a session are searched.
import { expect, onTestFinished, test } from "vitest";
import { ids, newClient, useService } from "../support/client.ts";

const service = useService();

test("searches the title, the subtitle and the client's name, and nothing else [SLS-21]", async () => {
  const client = await newClient(service());
  const [named, nameless] = await client.put.contacts(
    { full_name: "Quentin", email: "ann@example.com", phone: "555" },
    { inferred_name: "Quentin", email: "elsewhere@example.com" },
  );
  const [byTitle, bySubtitle, byName, byInferred] = await client.put.sessions(
    { title: "About Quentin" },
    { subtitle: "quentin again" },
    { contact_id: named },
    { contact_id: nameless },
    {
      title: "Other",
      source: "quentin",
      recording_status: "quentin",
      conference_provider: "quentin",
      conference_url: "https://quentin.example",
      provider_doc_url: "https://quentin.example",
    },
  );
  expect(ids(await client.get("/v1/sessions?query=quentin")).sort()).toEqual(
    [byTitle, bySubtitle, byName, byInferred].sort(),
  );
  for (const query of ["example", "555", "elsewhere"])
    expect(ids(await client.get(`/v1/sessions?query=${query}`)), query).toEqual([]);
});

test("does not search the inferred_name of a client with a full_name [SLS-21]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Quentin", inferred_name: "Zebulon" });
  const session = await client.put.session({ contact_id: contact });
  expect(ids(await client.get("/v1/sessions?query=quentin"))).toEqual([session]);
  expect(ids(await client.get("/v1/sessions?query=zebulon"))).toEqual([]);
});

test("finds the words of a query in several fields and in any order, but requires each of them [SLS-21, SRC-04, SRC-05]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann Lee" });
  const session = await client.put.session({ contact_id: contact, title: "Yearly budget", subtitle: "Second draft" });
  for (const query of ["draft budget ann", "lee yea", "sec dra bud"])
    expect(ids(await client.get(`/v1/sessions?query=${encodeURIComponent(query)}`)), query).toEqual([session]);
  for (const query of ["draft plan", "udget", "annlee"])
    expect(ids(await client.get(`/v1/sessions?query=${encodeURIComponent(query)}`)), query).toEqual([]);
});

test("a query without a letter or digit matches nothing, although a list without a query matches everything [SRC-06]", async () => {
  const client = await newClient(service());
  await client.put.session({ title: "..." });
  expect((await client.get("/v1/sessions?query=...")).body).toEqual({
    data: [],
    pagination: { limit: 10, offset: 0, has_more: false, next_offset: null },
  });
  expect(ids(await client.get("/v1/sessions"))).toHaveLength(1);
});

test("a session that is ingested again is found only by its new words and those of its new client [SRC-07, ING-05]", async () => {
  const client = await newClient(service());
  const [ann, bo] = await client.put.contacts({ full_name: "Ann" }, { full_name: "Bo" });
  const session = await client.put.session({ external_id: "s", title: "Budget", contact_id: ann });
  await client.put.session({ external_id: "s", title: "Plan", contact_id: bo });
  expect(ids(await client.get("/v1/sessions?query=plan+bo"))).toEqual([session]);
  for (const query of ["budget", "ann"])
    expect(ids(await client.get(`/v1/sessions?query=${query}`)), query).toEqual([]);
});

test("the search responds while its index is missing, and finds the same [SRC-04, SRC-05]", async () => {
  const client = await newClient(service());
  await client.put.sessions({ title: "Budget plan" }, { title: "Budget" }, { title: "Zurich" });
  const idsOf = async (query: string): Promise<string[]> => ids(await client.get(`/v1/sessions?query=${query}`));
  const search = () => Promise.all(["bu", "budget+pl", "zurich", "none"].map(idsOf));
  const before = await search();
  expect(before.map(({ length }) => length)).toEqual([2, 1, 1, 0]);
  const sessions = service().app.client.db().collection("sessions");
  const [index] = (await sessions.indexes()).filter(({ name }) => name === "search");
  const { key, v: _version, ...options } = index ?? expect.fail("there is no such index");
  onTestFinished(async () => void (await sessions.createIndex(key, options)));
  await sessions.dropIndex("search");
  expect(await search()).toEqual(before);
});
