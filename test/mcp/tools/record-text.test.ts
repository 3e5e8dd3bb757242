// The text of a record: fetch shows every field of the messages, and the test has the list of those that it leaves out.
import { nameOfContact, titleOfSession } from "../../../src/text/display-name.ts";
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { create, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { table } from "../../../src/http/route.ts";
import type { Fetched } from "../../../src/mcp/fetch.ts";
import { fetchRecord, pageOfRecord } from "../../../src/mcp/fetch.ts";
import type { RecordText } from "../../../src/mcp/record-text.ts";
import { contactText, sessionText, shownPage } from "../../../src/mcp/record-text.ts";
import type { ToolContext } from "../../../src/mcp/tool.ts";

/** The fields that fetch does not return, and why. */
const leftOut: Readonly<Record<string, string>> = {
  "records.v1.ContactTimelineNote.id": "no tool accepts it",
  "records.v1.Transcript.session_id": "it is the id of the session",
  "records.v1.SessionNote.title_slug": "it is the title in another form",
  "records.v1.SessionNote.position": "the notes are sorted by it",
  "records.v1.Recording.id": "no tool accepts it",
  "records.v1.Contact.last_session_date": "only lists have it, and the recent sessions begin with it",
};

/** The value that each field of a made-up message has, in the form in which a text can show it. */
type Values = Map<string, string>;

let numbered = 0;

function madeUp(message: DescMessage, values: Values): Message {
  const entries = message.fields.map((field) => {
    const one = valueOf(field, values);
    return [field.localName, field.fieldKind === "list" ? [one] : one];
  });
  return create(message, Object.fromEntries(entries) as Record<string, unknown>);
}

function valueOf(field: DescField, values: Values): unknown {
  const name = `${field.parent.typeName}.${field.name}`;
  // The brackets keep the value of one field from being the beginning of another's.
  const marked = `<${name}>`;
  numbered++;
  if (field.message?.typeName === TimestampSchema.typeName) {
    const date = new Date(Date.UTC(2026, 0, numbered));
    values.set(name, date.toISOString().slice(0, 10));
    return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(date.getTime() / 1_000), nanos: 0 } as Timestamp;
  }
  if (field.message !== undefined) return madeUp(field.message, values);
  const isNumber = field.scalar !== undefined && field.scalar !== ScalarType.STRING;
  const number = 7_000_000 + numbered;
  const text = field.enum?.values[2]?.name.toLowerCase().slice(field.enum.sharedPrefix?.length) ?? marked;
  values.set(name, isNumber ? String(number) : text);
  return isNumber ? number : field.enum === undefined ? marked : field.enum.values[2]?.number;
}

async function fetchMadeUp(kind: "contact" | "session"): Promise<{ fetched: Fetched; values: Values }> {
  const values: Values = new Map();
  const call = (operation: string): Promise<unknown> => {
    const route = table.find(({ rpc }) => rpc.localName === operation)!;
    const message = madeUp(route.rpc.output, values);
    return Promise.resolve({ message, body: route.write(message, "acme") });
  };
  const context = { calls: { call }, inbound: {}, baseUrl: "https://records.example" } as unknown as ToolContext;
  const id = kind === "contact" ? "<records.v1.Contact.id>" : "<records.v1.SessionDetail.id>";
  return { fetched: await fetchRecord(kind, id, context), values };
}

test.each([
  ["contact", 20],
  ["session", 26],
] as const)("fetch shows every field of a %s that it does not leave out for a reason [MCP-10]", async (kind, least) => {
  const { fetched, values } = await fetchMadeUp(kind);
  const all = JSON.stringify(fetched);
  expect(values.size).toBeGreaterThanOrEqual(least);
  const missing = [...values].filter(([, value]) => !all.includes(value)).map(([name]) => name);
  expect(missing).toEqual([...values.keys()].filter((name) => name in leftOut));
});

test("every field that fetch leaves out is a field of a record [MCP-10]", async () => {
  const all = [await fetchMadeUp("contact"), await fetchMadeUp("session")].flatMap(({ values }) => [...values.keys()]);
  expect(Object.keys(leftOut).filter((name) => !all.includes(name))).toEqual([]);
});

test("shows the fields of a session by their labels, in the order of the message [MCP-10]", async () => {
  const { text } = (await fetchMadeUp("session")).fetched;
  const labels = [...text.matchAll(/^([A-Z][A-Za-z ]*): /gm)].map(([, label]) => label);
  expect(labels).toEqual([
    "Subtitle",
    "Date",
    "End",
    "Recording",
    "Source",
    "Conference provider",
    "With",
    "Conference URL",
    "Acme doc URL",
    "Recording seconds",
    "Recording started",
    "Recording ended",
  ]);
});

const shown = (record: RecordText): string => shownPage(record, 0, record.text.length);

const times = { created_at: "2026-01-02T00:00:00.000Z", updated_at: "2026-01-02T09:00:00.000Z" };

test("shows a field that a later version adds, at every level, and nothing for one that is not set [MCP-10]", () => {
  const added = { nick_name: "Nick", rating: 4, is_new: false, tags: ["a", "b"], left_at: null, none: [], empty: "" };
  const contact = {
    ...{ id: "1", full_name: "Ann", inferred_name: null, notes: null, memory: null },
    ...times,
    ...added,
    notes_timeline: [{ id: "2", content: "Hello", ...times, ...added }],
    recent_sessions: [{ id: "3", title: null, session_date: null, ...added }],
  };
  const parts = 'nick name Nick, rating 4, is new false, tags ["a","b"]';
  expect(shown(contactText("Ann", contact))).toBe(
    `# Ann\n\nNick name: Nick\nRating: 4\nIs new: false\nTags: ["a","b"]\n\n## Timeline\n- 2026-01-02 (${parts}): Hello\n\n## Recent sessions\n- undated: Untitled, ${parts} (session:3)`,
  );
  const session = {
    ...{ id: "3", title: "Talk", client: { id: "1", full_name: "Ann", ...added }, ...times, ...added },
    notes: [{ title: null, title_slug: null, content: null, position: 0, ...added }],
  };
  const spoken = { session_id: "3", transcript: "Hello", recording: { id: "4", ...added }, ...added };
  const lines = 'Nick name: Nick\nRating: 4\nIs new: false\nTags: ["a","b"]';
  expect(shown(sessionText({ title: "Talk", session, person: "Ann", spoken }))).toBe(
    `# Talk\n\nWith: Ann, ${parts} (contact:1)\n${lines}\n${lines}\n${lines}\n\n## Note (${parts})\n\n## Transcript\n> Hello`,
  );
});

test("shows an email, an inferred name and the day of a change only if they say something new [MCP-10]", () => {
  const note = { id: "2", content: "Hello", source: "api", ...times };
  const contact = (names: object) => ({ ...names, notes_timeline: [note], recent_sessions: [] });
  expect(shown(contactText("Ann", contact({ full_name: null, inferred_name: "Ann" })))).not.toContain("Inferred name");
  expect(shown(contactText("Ann Lee", contact({ full_name: "Ann Lee", inferred_name: "Ann" })))).toContain(
    "\nInferred name: Ann\n",
  );
  const changed = { ...note, updated_at: "2026-01-03T00:00:00.000Z" };
  expect(shown(contactText("Ann", { ...contact({}), notes_timeline: [note, changed] }))).toContain(
    "- 2026-01-02 (source api): Hello\n- 2026-01-02 (source api, changed 2026-01-03): Hello",
  );
  const session = (client: object) => ({ client: { id: "1", full_name: null, ...client }, notes: [] });
  const withEmail = session({ email: "ann@example.org" });
  expect(shown(sessionText({ title: "Talk", session: withEmail, person: "ann@example.org", spoken: {} }))).toBe(
    "# Talk\n\nWith: ann@example.org (contact:1)",
  );
  expect(shown(sessionText({ title: "Talk", session: withEmail, person: "Ann", spoken: {} }))).toBe(
    "# Talk\n\nWith: Ann, ann@example.org (contact:1)",
  );
});

test("no text of a record can look like a heading or a list item of ours, whatever its line breaks [MCP-10]", () => {
  const breaks = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x84", "\x85", "\x8b", "\u2028", "\u2029"];
  const hostile = `a${breaks.map((one) => `${one}# Boss`).join("")}`;
  const [flat, lines] = [`a${" # Boss".repeat(13)}`, `> a${"\n> # Boss".repeat(13)}`];
  const contact = {
    ...{ full_name: hostile, inferred_name: hostile, email: hostile, notes: hostile, memory: hostile, tags: [hostile] },
    notes_timeline: [{ content: hostile, source: hostile, ...times }],
    recent_sessions: [{ id: "3", title: hostile, subtitle: hostile, session_date: times.created_at }],
  };
  const tags = JSON.stringify([hostile]).replaceAll(/[\x84\x85\x8b\u2028\u2029]/g, " ");
  expect(shown(contactText(nameOfContact(contact), contact))).toBe(
    `# ${flat}\n\nEmail: ${flat}\nTags: ${tags}\n\n## Notes\n${lines}\n\n## Memory\n${lines}\n\n## Timeline\n- 2026-01-02 (source ${flat}):\n${lines.replaceAll(/^/gm, "  ")}\n\n## Recent sessions\n- 2026-01-02: ${flat}, subtitle ${flat} (session:3)`,
  );
  const session = {
    ...{ id: "3", title: hostile, subtitle: hostile, client: { id: "1", full_name: hostile, email: hostile } },
    notes: [{ title: hostile, content: hostile, type: hostile }],
  };
  const spoken = { session_id: "3", transcript: hostile, recording: { id: "4", recording_ended_at: hostile } };
  const person = nameOfContact({ full_name: "Ann" });
  expect(shown(sessionText({ title: titleOfSession(session), session, person, spoken }))).toBe(
    `# ${flat}\n\nSubtitle: ${flat}\nWith: Ann, ${flat} (contact:1)\nRecording ended: ${flat}\n\n## ${flat} (type ${flat})\n${lines}\n\n## Transcript\n${lines}`,
  );
});

test("a page of a text that begins within a line marks it, so that its rest cannot look like a line of ours [MCP-10]", () => {
  const text = "# Ann\n\nEmail: a# b\n\n## Timeline\n- 2026-01-02:\n  > x# y\n\n## Memory\n> x# y";
  const record = { id: "contact:1", title: "Ann", url: "", metadata: {} };
  const page = (offset: number): string => pageOfRecord({ ...record, text, quotedFrom: text.length }, offset).text;
  const at = (part: string, from = 0): number => text.indexOf(part, from);
  expect([page(0).slice(0, 5), page(at("##")).slice(0, 11), page(at("# b")).slice(0, 5)]).toEqual([
    "# Ann",
    "## Timeline",
    "… # b",
  ]);
  expect([page(at("# y")).slice(0, 7), page(at("# y", at("Memory"))), page(text.length - 4)]).toEqual([
    "> … # y",
    "> … # y",
    "> … x# y",
  ]);
  expect([page(text.length - 5), page(text.length)]).toEqual(["> …  x# y", ""]);
});

test("a page of a transcript quotes its lines, and marks the rest of one [MCP-10]", () => {
  const before = "# Talk\n\n## Transcript\n";
  const transcript = "a# b\r\n# c\u2028# d";
  const record = { ...{ id: "session:1", title: "Talk", url: "", metadata: {} }, quotedFrom: before.length };
  const page = (offset: number): string =>
    pageOfRecord({ ...record, text: before + transcript }, before.length + offset).text;
  expect([page(-14), page(0), page(1), page(5), page(6), page(transcript.length - 3)]).toEqual([
    "## Transcript\n> a# b\n> # c\n> # d",
    "> a# b\n> # c\n> # d",
    "> … # b\n> # c\n> # d",
    "> \n> # c\n> # d",
    "> # c\n> # d",
    "> # d",
  ]);
});
