// Renaming a contact, through ingest and through the interface: what its sessions show, what they are found by, and the
// labels of its notes.
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { ids, newClient, useService } from "../support/client.ts";
import type { Item } from "../fixtures/clients/ingest.ts";

const service = useService();

interface Owned {
  readonly client: Client;
  readonly contact: string;
  readonly session: string;
}

/** A contact with a session and a note, and another contact with a session that nothing here may touch. */
async function begin(names: Item): Promise<Owned> {
  const client = await newClient(service());
  const contact = await client.put.contact({ external_id: "c", ...names });
  const session = await client.put.session({ title: "Quarterly", contact_id: contact });
  await client.put.contactNotes({ contact_id: contact, content: "remembers", source: "import" });
  await client.put.session({ title: "Untouched", contact_id: await client.put.contact({ full_name: "Bystander" }) });
  return { client, contact, session };
}

/** Checks the copies against what the contact is called now; `gone` must find no session any more. */
async function expectNames(
  { client, contact, session }: Owned,
  expected: {
    full_name: string | null;
    email?: string;
    label: string | null;
    found: readonly string[];
    gone: readonly string[];
  },
): Promise<void> {
  const { full_name, email = null, label, found, gone } = expected;
  expect((await client.get(`/v1/sessions?contact_id=${contact}`)).body.data).toMatchObject([
    { id: session, title: "Quarterly", client: { id: contact, full_name } },
  ]);
  expect((await client.get(`/v1/sessions/${session}`)).body.data.client).toEqual({ id: contact, full_name, email });
  for (const word of [...found, "quarterly"])
    expect(ids(await client.get(`/v1/sessions?query=${word}`)), word).toEqual([session]);
  for (const word of gone) expect(ids(await client.get(`/v1/sessions?query=${word}`)), word).toEqual([]);
  expect(
    (await client.get("/v1/notes?query=remembers")).body.data.map(
      (note: { parent_label: string | null }) => note.parent_label,
    ),
  ).toEqual([label]);
  expect((await client.get("/v1/sessions?query=bystander")).body.data).toMatchObject([
    { title: "Untouched", client: { full_name: "Bystander" } },
  ]);
}

test("ingesting a contact under another name renames it in its sessions, their search and its notes [SLS-06, SLS-21, NOT-07, ING-05]", async () => {
  const owned = await begin({ full_name: "Zebulon Oak", email: "z@example.com" });
  await owned.client.put.contact({ external_id: "c", full_name: "Marigold Elm", email: "m@example.com" });
  await expectNames(owned, {
    full_name: "Marigold Elm",
    email: "m@example.com",
    label: "Marigold Elm",
    found: ["marigold", "elm"],
    gone: ["zebulon", "oak"],
  });
});

test("renaming a contact through the interface renames it in its sessions, their search and its notes [SLS-06, SLS-21, NOT-07]", async () => {
  const owned = await begin({ full_name: "Zebulon Oak" });
  expect((await owned.client.patch(`/v1/contacts/${owned.contact}`, { full_name: "Marigold Elm" })).status).toBe(200);
  await expectNames(owned, {
    full_name: "Marigold Elm",
    label: "Marigold Elm",
    found: ["marigold", "elm"],
    gone: ["zebulon", "oak"],
  });
});

test("ingesting an archived contact under another name renames it everywhere, and it stays archived [SLS-22, SLS-21, NOT-07]", async () => {
  const owned = await begin({ full_name: "Zebulon Oak" });
  await owned.client.put.archive(owned.contact);
  await owned.client.put.contact({ external_id: "c", full_name: "Marigold Elm" });
  await expectNames(owned, {
    full_name: "Marigold Elm",
    label: "Marigold Elm",
    found: ["marigold"],
    gone: ["zebulon"],
  });
  expect((await owned.client.get(`/v1/contacts/${owned.contact}`)).body.data.archived_at).not.toBeNull();
});

test("a rejected change of an archived contact renames nothing [SLS-21, NOT-07]", async () => {
  const owned = await begin({ full_name: "Zebulon Oak" });
  await owned.client.put.archive(owned.contact);
  expect((await owned.client.patch(`/v1/contacts/${owned.contact}`, { full_name: "Marigold Elm" })).status).toBe(409);
  await expectNames(owned, { full_name: "Zebulon Oak", label: "Zebulon Oak", found: ["zebulon"], gone: ["marigold"] });
});

test("a new inferred_name alone is searched and labels notes, and is not shown as a full_name [SLS-06, SLS-21, NOT-07]", async () => {
  const owned = await begin({ inferred_name: "Zebulon Oak" });
  await owned.client.put.contact({ external_id: "c", inferred_name: "Marigold Elm" });
  await expectNames(owned, { full_name: null, label: "Marigold Elm", found: ["marigold"], gone: ["zebulon"] });
});

test("a full_name that is set hides the inferred_name, and one that ingest clears shows it again [SLS-21, NOT-07]", async () => {
  const owned = await begin({ inferred_name: "Zebulon Oak" });
  await owned.client.patch(`/v1/contacts/${owned.contact}`, { full_name: "Marigold Elm" });
  await expectNames(owned, {
    full_name: "Marigold Elm",
    label: "Marigold Elm",
    found: ["marigold"],
    gone: ["zebulon"],
  });
  await owned.client.put.contact({ external_id: "c", inferred_name: "Zebulon Oak" });
  await expectNames(owned, { full_name: null, label: "Zebulon Oak", found: ["zebulon"], gone: ["marigold"] });
});

test("an email labels the notes of a contact without a name, through ingest and the interface, and finds no session [SLS-21, NOT-07]", async () => {
  const owned = await begin({ email: "zebulon@example.com" });
  await expectNames(owned, {
    full_name: null,
    email: "zebulon@example.com",
    label: "zebulon@example.com",
    found: [],
    gone: ["zebulon"],
  });
  await owned.client.put.contact({ external_id: "c", email: "marigold@example.com" });
  await expectNames(owned, {
    full_name: null,
    email: "marigold@example.com",
    label: "marigold@example.com",
    found: [],
    gone: ["zebulon", "marigold"],
  });
  await owned.client.patch(`/v1/contacts/${owned.contact}`, { email: "hazel@example.com" });
  await expectNames(owned, {
    full_name: null,
    email: "hazel@example.com",
    label: "hazel@example.com",
    found: [],
    gone: ["marigold", "hazel"],
  });
  await owned.client.put.contact({ external_id: "c", phone: "1" });
  await expectNames(owned, { full_name: null, label: null, found: [], gone: ["hazel"] });
});
