// The types of the client, checked by the compiler: this file does not compile where a wrong use is let through.
import { expect, expectTypeOf, test } from "vitest";
import type { Contact, SessionNote } from "../../client/src/index.ts";
import { RecordsClient } from "../../client/src/index.ts";
import { respond, scripted } from "./scripted.ts";

const id = "b5d7e64e-c92f-4439-bb41-1662fbfa63ea";

/** Uses that must not compile; they are not called. */
export function wrongUses(client: RecordsClient, contact: Contact): unknown[] {
  return [
    // @ts-expect-error: without an address there is nothing to call
    () => new RecordsClient({ apiKey: "rec_test" }),
    // @ts-expect-error: a search of contacts needs a query
    () => client.contacts.search({}),
    // @ts-expect-error: a contact has a name
    () => client.contacts.create({ email: "ann@example.com" }),
    // @ts-expect-error: a name cannot be cleared
    () => client.contacts.update(id, { full_name: null }),
    // @ts-expect-error: no such field
    () => client.contacts.create({ full_name: "Ann", nickname: "A" }),
    // @ts-expect-error: a limit is a number
    () => client.sessions.list({ limit: "5" }),
    // @ts-expect-error: an update has no idempotency key
    () => client.contacts.update(id, { email: null }, { idempotencyKey: "k" }),
    // @ts-expect-error: an email can be null
    () => contact.email.length,
    // @ts-expect-error: no such field
    () => contact.nickname,
    // @ts-expect-error: the key cannot be read again
    () => client.apiKey,
  ];
}

test("responses have the types of the OpenAPI document", async () => {
  const { url } = await scripted(
    respond(200, { data: { id, google_doc_url: null, notion_doc_url: "https://example.com/doc" } }),
  );
  const client = new RecordsClient({ baseUrl: url });
  const session = await client.sessions.get(id);
  expectTypeOf(session.client).toEqualTypeOf<{ id: string; full_name: string | null; email: string | null } | null>();
  expectTypeOf(session.google_doc_url).toEqualTypeOf<string | null>();
  expectTypeOf(session["notion_doc_url"]).toEqualTypeOf<string | null | undefined>();
  expectTypeOf(client.sessions.all).returns.toExtend<AsyncIterable<{ title: string | null }>>();
  expectTypeOf<Contact["notes_timeline"][number]["source"]>().toEqualTypeOf<string>();
  expect(session["notion_doc_url"]).toBe("https://example.com/doc");
});

test("the types accept an unknown value of an enum", () => {
  const later: SessionNote["type"] = "ai_summary";
  expectTypeOf<SessionNote["type"]>().toExtend<string>();
  expect(later).toBe("ai_summary");
});
