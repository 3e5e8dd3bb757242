// The names that assistants see: one name of a contact everywhere, and never one without a visible character.
import { beforeAll, describe, expect, test } from "vitest";
import { hoursFromNow } from "../../support/client.ts";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf, request } from "./set-up.ts";

interface Made {
  readonly contact: string;
  readonly session: string;
  /** A word that only the records of this contact have. */
  readonly word: string;
}

const fixture = useSignInFixture();
let holder: Holder;
beforeAll(async () => {
  holder = await holderOf(fixture());
});

let made = 0;
/** A contact with a note and a past session. */
async function madeContact(names: Record<string, string>): Promise<Made> {
  const word = `marker${String.fromCharCode(97 + made++)}`;
  const contact = await holder.put.contact(names);
  const session = await holder.put.session({
    contact_id: contact,
    title: `Talk ${word}`,
    session_date: hoursFromNow(-made),
  });
  await holder.put.contactNotes({ contact_id: contact, content: `Note ${word}`, source: "manual" });
  return { contact, session, word };
}

describe.each([
  ["an inferred name alone", { inferred_name: "Wally Walrus" }, "Wally Walrus"],
  ["an email alone", { email: "oscar@example.org" }, "oscar@example.org"],
  ["a full name of spaces", { full_name: "   ", inferred_name: "Good Name" }, "Good Name"],
  ["a full name of a zero width space", { full_name: "\u200b", inferred_name: "Better Name" }, "Better Name"],
  ["an inferred name of spaces", { inferred_name: "  ", email: "blank@example.org" }, "blank@example.org"],
  ["a full name and others", { full_name: "Fay Full", inferred_name: "Fay", email: "fay@example.org" }, "Fay Full"],
])("a contact with %s", (_, names, shown) => {
  let person: Made;
  beforeAll(async () => {
    person = await madeContact(names);
  });

  test("has the name in every result of search [MCP-10]", async () => {
    const { results } = (await call(holder, "search", { query: person.word })).structured;
    const { contact, session, word } = person;
    expect(results).toHaveLength(2);
    expect(results).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: `contact:${contact}`, title: shown, person: shown }),
        expect.objectContaining({ id: `session:${session}`, title: `Talk ${word}`, person: shown }),
      ]),
    );
    const ofName = (await call(holder, "search", { query: shown })).structured.results;
    expect(ofName).toContainEqual(expect.objectContaining({ id: `contact:${contact}`, title: shown, person: shown }));
  });

  test("has the name in the records that fetch returns [MCP-10]", async () => {
    const { contact, session } = person;
    const record = (await call(holder, "fetch", { id: `contact:${contact}` })).structured;
    expect([record.title, record.text.split("\n")[0]]).toEqual([shown, `# ${shown}`]);
    const { text } = (await call(holder, "fetch", { id: `session:${session}` })).structured;
    expect(/^With: (.*)$/m.exec(text)?.[1]).toMatch(new RegExp(`^${shown}.* \\(contact:${contact}\\)$`));
  });

  test("has the name in search_notes and in the list of resources [MCP-19] [NOT-07]", async () => {
    const { contact, word } = person;
    expect((await call(holder, "search_notes", { query: word })).structured.data).toMatchObject([
      { parent_id: contact, parent_label: shown },
    ]);
    const { resources } = (await request(holder, "2026-07-28", "resources/list")).body.result;
    expect(resources).toContainEqual(expect.objectContaining({ uri: `contact://${contact}`, name: shown }));
  });

  test("has the same client over REST as before: id and full_name [SLS-06]", async () => {
    const { body } = await fixture().service.rest(`/v1/sessions?contact_id=${person.contact}`, { key: holder.key });
    const full_name = (names as { full_name?: string }).full_name ?? null;
    expect(body.data.map(({ client }: { client: unknown }) => client)).toEqual([{ id: person.contact, full_name }]);
  });
});

test("a title without a visible character is shown as no title [MCP-10] [MCP-19]", async () => {
  const contact = await holder.put.contact({ full_name: "\u200b" });
  const session = await holder.put.session({
    contact_id: contact,
    title: "\u200b ",
    subtitle: "Blankish",
    session_date: hoursFromNow(-1),
  });
  await holder.put.sessionNotes({
    session_id: session,
    title: "\u2800",
    content: "Said something",
    position: 0,
    type: "SESSION_NOTE_TYPE_USER_MANUAL",
  });
  const { results } = (await call(holder, "search", { query: "blankish" })).structured;
  expect(results).toMatchObject([{ id: `session:${session}`, title: "Untitled session", person: null }]);
  const { title, text } = (await call(holder, "fetch", { id: `session:${session}` })).structured;
  expect(title).toBe("Untitled session");
  expect(text).toMatch(/^# Untitled session\n/);
  expect(text).toContain(`With: Unnamed contact (contact:${contact})`);
  expect(text).toContain("\n## Note");
  expect((await call(holder, "fetch", { id: `contact:${contact}` })).structured.text).toMatch(
    /^# Unnamed contact\n.*\n- \d{4}-\d\d-\d\d: Untitled/s,
  );
  const { resources } = (await request(holder, "2026-07-28", "resources/list")).body.result;
  expect(resources).toContainEqual(expect.objectContaining({ uri: `session://${session}`, name: "Untitled session" }));
  expect(resources).toContainEqual(expect.objectContaining({ uri: `contact://${contact}`, name: "Unnamed contact" }));
});
