// Completions: what a client offers while a user fills in a prompt or an address.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { hoursFromNow } from "../../support/client.ts";
import type { Holder } from "./set-up.ts";
import { call, connect, holderOf, request, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
const ids: Record<string, string> = {};
beforeAll(async () => {
  holder = await holderOf(fixture());
  const { put } = holder;
  ids["zoe"] = await put.contact({ full_name: "Zoë Martin", email: "zoe@example.org" });
  ids["ben"] = await put.contact({ full_name: "Ben Martin" });
  ids["twin"] = await put.contact({ full_name: "Ben Martin", phone: "+1 415 555 0100" });
  ids["mailed"] = await put.contact({ full_name: "Ben Martin", email: "ben@example.org" });
  ids["mail"] = await put.contact({ email: "martin@example.org" });
  ids["old"] = await put.contact({ full_name: "Olga Martin" });
  await put.archive(ids["old"]);
  ids["last"] = await put.session({ contact_id: ids["zoe"], title: "Budget", session_date: hoursFromNow(-2) });
  ids["first"] = await put.session({ title: "Kick-off", session_date: hoursFromNow(-90) });
  await put.session({ contact_id: ids["zoe"], title: "Budget to come", session_date: hoursFromNow(90) });
});

const prompt = (name: string) => ({ type: "ref/prompt", name });
const address = (uri: string) => ({ type: "ref/resource", uri });
const of = (...names: string[]): string[] => names.map((name) => ids[name] ?? name);

test.each([
  ["names of contacts by their words", prompt("prepare_meeting"), "contact", "mart zo", () => ["Zoë Martin"]],
  [
    "the email or the id next to a name that several contacts have, and the email of a contact without a name",
    prompt("prepare_meeting"),
    "contact",
    "martin",
    () => [
      "Ben Martin ben@example.org",
      ...["twin", "ben"].map((name) => `contact:${ids[name]}`),
      "Zoë Martin",
      "martin@example.org",
    ],
  ],
  ["nothing for a word without matches", prompt("prepare_meeting"), "contact", "nobody", () => []],
  ["ids of contacts for an address", address("contact://{id}"), "id", "zoe", () => of("zoe")],
  ["ids of contacts by an email", address("contact://{id}"), "id", "zoe@example.org", () => of("zoe")],
  ["ids of past sessions for a prompt", prompt("follow_up"), "session_id", "budget", () => of("last")],
  ["ids of past sessions for an address", address("session://{id}"), "id", "zoe", () => of("last")],
  ["the latest sessions before a word is typed", address("session://{id}"), "id", "", () => of("last", "first")],
  ["nothing for a topic", prompt("catch_up"), "topic", "budget", () => []],
  ["nothing for an argument that the prompt does not have", prompt("prepare_meeting"), "who", "zoe", () => []],
  ["nothing for an address without a template", address("note://{id}"), "id", "zoe", () => []],
])("completes with %s, in every revision [MCP-20]", async (_, ref, name, value, expected) => {
  for (const revision of revisions) {
    const { body } = await request(holder, revision, "completion/complete", { ref, argument: { name, value } });
    expect(body.result?.completion, `${revision} ${JSON.stringify(body)}`).toEqual({
      values: expected(),
      hasMore: false,
    });
  }
});

test("offers the newest active contacts before a word is typed, and never archived ones [MCP-20]", async () => {
  const argument = { name: "contact", value: "z" };
  const { body } = await request(holder, "2026-07-28", "completion/complete", {
    ref: prompt("prepare_meeting"),
    argument,
  });
  expect([...body.result.completion.values].sort()).toEqual([
    "Ben Martin ben@example.org",
    "Zoë Martin",
    ...of("ben", "twin")
      .map((id) => `contact:${id}`)
      .sort(),
    "martin@example.org",
  ]);
});

describe("a completed value", () => {
  test("selects its contact in the prompt, also among several with one name [MCP-20]", async () => {
    for (const [value, id] of [
      ["Ben Martin ben@example.org", "mailed"],
      [`contact:${ids["twin"]}`, "twin"],
    ] as const) {
      const given = { name: "prepare_meeting", arguments: { contact: value } };
      const { body } = await request(holder, "2026-07-28", "prompts/get", given);
      const { text: record } = (await call(holder, "fetch", { id: `contact:${ids[id]}` })).structured;
      const { text } = body.result.messages[0].content;
      expect(text).toContain(`\n${record}\n`);
      expect(text).not.toContain("Other contacts");
    }
  });

  test("is accepted by the prompt, with the official client of either era [MCP-20]", async () => {
    for (const modern of [true, false]) {
      const client = await connect(holder, modern);
      const { completion } = await client.complete({
        ref: { type: "ref/prompt", name: "prepare_meeting" },
        argument: { name: "contact", value: "zo" },
      });
      const [contact = ""] = completion.values;
      const { messages } = await client.getPrompt({ name: "prepare_meeting", arguments: { contact } });
      expect(JSON.stringify(messages)).toContain("zoe@example.org");
    }
  });
});

test("an unknown prompt is an error, and a long text is cut to words [MCP-20]", async () => {
  const argument = { name: "contact", value: "zoe ".repeat(60) };
  const wrong = await request(holder, "2026-07-28", "completion/complete", { ref: prompt("write_poem"), argument });
  expect(wrong.body.error).toMatchObject({
    code: -32_602,
    message: expect.stringMatching(/no prompt named write_poem\./),
  });
  const ref = prompt("prepare_meeting");
  const { body } = await request(holder, "2026-07-28", "completion/complete", { ref, argument });
  expect(body.result.completion.values).toEqual(["Zoë Martin"]);
});

test("says that there are more if the list has more than 25 [MCP-20]", async () => {
  await holder.put.contacts(...Array.from({ length: 26 }, (_, at) => ({ full_name: `Crowd ${at}` })));
  await holder.put.sessions(
    ...Array.from({ length: 26 }, (_, at) => ({ title: `Crowd ${at}`, session_date: hoursFromNow(-100 - at) })),
  );
  for (const [ref, name] of [
    [prompt("prepare_meeting"), "contact"],
    [prompt("follow_up"), "session_id"],
    [address("contact://{id}"), "id"],
    [address("session://{id}"), "id"],
  ] as const) {
    const completed = async (value: string) =>
      (await request(holder, "2026-07-28", "completion/complete", { ref, argument: { name, value } })).body.result
        .completion;
    const { values, hasMore } = await completed("crowd");
    expect([values.length, hasMore]).toEqual([25, true]);
    expect((await completed("crowd 25")).hasMore).toBe(false);
  }
});

test.each([
  ["of one letter", "李", []],
  ["without a letter", "!!", []],
  [
    "longer than a query, which two contacts share",
    `Aurelia ${"Featherstonehaugh ".repeat(6)}`.trim(),
    ["a@example.net", "b@example.net"],
  ],
])("the prompt takes what is completed for a name %s [MCP-20]", async (_title, full_name, emails) => {
  const created = await holder.put.contacts(
    ...(emails.length > 0 ? emails : [undefined]).map((email) => ({ full_name, email })),
  );
  const argument = { name: "contact", value: "" };
  const { body } = await request(holder, "2026-07-28", "completion/complete", {
    ref: prompt("prepare_meeting"),
    argument,
  });
  const values = body.result.completion.values as string[];
  const offered = created.map((id) => `contact:${id}`);
  expect(values).toEqual(expect.arrayContaining(offered));
  for (const [at, value] of offered.entries()) {
    const got = await request(holder, "2026-07-28", "prompts/get", {
      name: "prepare_meeting",
      arguments: { contact: value },
    });
    expect(JSON.stringify(got.body.result)).toContain(emails[at] ?? full_name);
  }
});
