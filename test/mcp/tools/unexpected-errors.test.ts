// Errors of the MCP surface itself, after a read has succeeded: they are reported like any other failure.
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { lineOf } from "../../observability/request-lines.ts";
import type { Holder } from "./set-up.ts";
import { holderOf, request, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
beforeAll(async () => {
  holder = await holderOf(fixture());
  const contact = await holder.put.contact({ full_name: "Ann Lee", email: "ann.lee@example.org" });
  const contacts = fixture().service.app.client.db().collection("contacts");
  await holder.put.contact({ full_name: "Ann Lee", email: "ann@example.org" });
  // No write accepts these. Such an email cannot even be converted to a text.
  await contacts.updateMany({ full_name: "Ann Lee" }, { $set: { email: { toString: 1, valueOf: 1 } } });
  await holder.put.contactNotes({ contact_id: contact, content: "The lighthouse", source: "x" });
  await fixture()
    .service.app.client.db()
    .collection("notes")
    .updateMany({}, { $set: { content: 42 } });
});

const somethingWrong =
  "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.";

test.each([
  ["tools/call", { name: "search", arguments: { query: "lighthouse" } }],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "prepare_meeting" }, argument: { name: "contact", value: "ann" } },
  ],
] as const)(
  "an unexpected error of %s is INTERNAL for the assistant, and the log has its cause [MCP-11, ERR-07]",
  async (method, params) => {
    for (const revision of revisions) {
      const id = randomUUID();
      const { body } = await request(holder, revision, method, params, { "X-Request-Id": id });
      const message = body.error?.message ?? body.result.content[0].text;
      expect([revision, message]).toEqual([revision, somethingWrong]);
      expect(body.error?.code ?? body.result.isError).toBe(method === "tools/call" ? true : -32_603);
      expect(await lineOf(id, fixture().service)).toMatchObject({ cause: "TypeError" });
      const lines = fixture().service.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.filter((line) => line["id"] === id && line["msg"] === "request failed")).toMatchObject([
        { level: 50, reason: "INTERNAL", err: { type: "TypeError", stack: expect.anything() } },
      ]);
    }
  },
);
