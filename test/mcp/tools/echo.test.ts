// What prompts and errors repeat of a request is bounded, however long the request is.
import { beforeAll, expect, test } from "vitest";
import { useSignInFixture } from "../../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { holderOf, request } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
beforeAll(async () => {
  holder = await holderOf(fixture());
  const contact = await holder.put.contact({ full_name: "Keeper" });
  await holder.put.contactNotes({ contact_id: contact, content: "The lighthouse comes first", source: "app" });
});

test.each([
  [
    "with notes",
    "lighthouse ".repeat(20_000),
    /^Summarize everything about "lighthouse( lighthouse)+" in chronological order/,
  ],
  ["without notes", "unheard ".repeat(20_000), /^Summarize everything about "unheard( unheard)+"\. No note was found/],
  ["of one word", "漢".repeat(60_000), /^Summarize everything about "漢{100}"\. No note/],
])("a prompt repeats the words of a topic that were searched, and no more: %s [MCP-01]", async (_, topic, begins) => {
  const { body } = await request(holder, "2026-07-28", "prompts/get", { name: "catch_up", arguments: { topic } });
  const text = body.result.messages[0].content.text as string;
  expect(text).toMatch(begins);
  expect(text.slice(0, text.indexOf('"', 30)).length).toBeLessThan(140);
});

test("an unknown address is repeated up to 1,000 characters [MCP-01] [MCP-11]", async () => {
  const uri = `note://${"x".repeat(200_000)}`;
  const { body, text } = await request(holder, "2025-11-25", "resources/read", { uri });
  expect(body.error.data).toEqual({ uri: `note://${"x".repeat(993)}…` });
  expect(text.length).toBeLessThan(1_500);
});
