// What a read by an assistant leaves behind: that it was made, by whom and when, and nothing of what was requested or
// returned.
import type { Document } from "mongodb";
import { MongoNetworkError } from "mongodb";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { ann } from "../../fixtures/sign-in/users.ts";
import { signIn, useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { randomId, rest } from "../../fixtures/service/service.ts";
import type { Holder } from "./set-up.ts";
import { call, headersFor, holderOf, message, post, request } from "./set-up.ts";

interface Entry {
  readonly id: string;
  readonly event: string;
  readonly detail: string | null;
  readonly created_at: string;
  readonly request_id: string;
  readonly address: string;
  readonly person: string | null;
  readonly key_prefix: string | null;
}

const fixture = useSignInFixture({ LOG_LEVEL: "debug" });
let holder: Holder;
let cookie: string;
beforeAll(async () => {
  holder = await holderOf(fixture());
  ({ cookie } = await signIn(fixture(), ann));
});

/** The reads by assistants in the audit log, the newest first. */
async function entries(): Promise<Entry[]> {
  const { body } = await rest(fixture().base, "/v1/audit-log?limit=25", { headers: { Cookie: cookie } });
  return (body.data as Entry[]).filter(({ event }) => event === "tool_called");
}

/** The entries once there are so many: nobody waits for an entry before the response. */
async function untilThereAre(count: number): Promise<Entry[]> {
  await vi.waitFor(async () => expect(await entries()).toHaveLength(count), { timeout: 20_000, interval: 50 });
  return entries();
}

/** The line of a request in the operator's log. */
function lineOf(requestId: string): string {
  const isOf = (line: string): boolean => line.includes(`"id":"${requestId}"`) && line.includes('"msg":"request"');
  return fixture().service.logLines.find(isOf) ?? expect.fail(`no line of ${requestId}`);
}

describe("a tool call", () => {
  test("is in the user's audit log with the tool, the request and the address, without its arguments and its result [MCP-06] [MCP-11]", async () => {
    const contact = await holder.put.contact({ full_name: "Zebulon Quillfeather", notes: "keeps a marmoset" });
    const params = { name: "search_contacts", arguments: { query: "quillfeather" } };
    const response = await request(holder, "2026-07-28", "tools/call", params);
    const requestId = response.headers.get("x-request-id");
    expect(response.text).toContain("marmoset");
    const [entry, ...others] = await untilThereAre(1);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      event: "tool_called",
      detail: "search_contacts",
      request_id: requestId,
      person: ann.email,
      key_prefix: null,
    });
    expect(entry?.address).toMatch(/127\.0\.0\.1|::1/);
    expect(entry?.created_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);

    await call(holder, "get_contact", { contact_id: contact }, "2025-06-18");
    await call(holder, "get_contact", { contact_id: "not quillfeather" });
    await call(holder, "fetch", { id: `contact:${contact}` });
    expect((await untilThereAre(4)).map(({ detail }) => detail).sort()).toEqual([
      "fetch",
      "get_contact",
      "get_contact",
      "search_contacts",
    ]);

    const left = JSON.stringify(await entries()) + fixture().service.logLines.join("");
    for (const secret of ["quillfeather", "marmoset", contact, holder.token])
      expect(left.toLowerCase()).not.toContain(secret.toLowerCase());
  });

  test("has no entry if the tool does not exist, nor has a request that reads no record [MCP-06] [MCP-21]", async () => {
    const before = (await entries()).length;
    await request(holder, "2026-07-28", "tools/call", { name: "delete_all", arguments: {} });
    for (const method of ["tools/list", "prompts/list", "resources/templates/list", "server/discover"])
      await request(holder, "2026-07-28", method);
    await request(holder, "2026-07-28", "resources/read", { uri: "note://none" });
    await request(holder, "2026-07-28", "prompts/get", { name: "write_poem" });
    await request(holder, "2026-07-28", "completion/complete", {
      ref: { type: "ref/prompt", name: "catch_up" },
      argument: { name: "topic", value: "budget" },
    });
    await post(holder.url, JSON.stringify(message("2026-07-28", "tools/call", { name: "search", arguments: {} })), {
      headers: headersFor("2026-07-28", "tools/call", { name: "search" }),
    });
    await call(holder, "list_sessions");
    expect((await untilThereAre(before + 1)).map(({ detail }) => detail)[0]).toBe("list_sessions");
  });

  test.each([
    [
      "an accident",
      () => new Error("the pipe to the boiler burst"),
      "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
    ],
    [
      "an unavailable database",
      () => new MongoNetworkError("the pipe to the boiler burst"),
      "The service cannot respond right now. Try again.",
    ],
  ])("reports a failure by %s in general terms, and logs its class and location [MCP-11]", async (_, fault, said) => {
    const { app, logLines } = fixture().service;
    const collection = Object.getPrototypeOf(app.client.db().collection("notes")) as { aggregate: () => unknown };
    const db = Object.getPrototypeOf(app.client.db()) as { command: (command: Document) => unknown };
    const real = db.command;
    const fail = (): never => {
      throw fault();
    };
    // By one command, and by a cursor where that is to be repeated; the token is still looked up.
    const searches = function (this: unknown, ...args: [Document]): unknown {
      return ["notes", "contacts", "sessions"].includes(args[0]["aggregate"] as string)
        ? fail()
        : real.apply(this, args);
    };
    const failing = [
      vi.spyOn(collection, "aggregate").mockImplementation(fail),
      vi.spyOn(db, "command").mockImplementation(searches),
    ];
    const seen = logLines.length;
    try {
      for (const name of ["search_notes", "search"]) {
        expect(await call(holder, name, { query: "anything" })).toEqual({
          isError: true,
          text: said,
          structured: undefined,
        });
      }
    } finally {
      for (const one of failing) one.mockRestore();
    }
    const logged = logLines.slice(seen).join("");
    expect(logged).toMatch(new RegExp(`"err":\\{"type":"${fault().name}","stack":\\["[^"]*audit\\.test\\.ts:`));
    expect(logged).not.toContain("boiler");
  });
});

describe("every other read of an assistant", () => {
  test.each([
    ["resources/list", () => ({}), "resources"],
    ["resources/read", (contact) => ({ uri: `contact://${contact}` }), "resource contact"],
    ["resources/read", () => ({ uri: `session://${randomId()}` }), "resource session"],
    [
      "prompts/get",
      () => ({ name: "prepare_meeting", arguments: { contact: "quillfeather" } }),
      "prompt prepare_meeting",
    ],
    ["prompts/get", () => ({ name: "follow_up" }), "prompt follow_up"],
    ["prompts/get", () => ({ name: "catch_up", arguments: { topic: "quillfeather" } }), "prompt catch_up"],
    [
      "completion/complete",
      () => ({
        ref: { type: "ref/prompt", name: "prepare_meeting" },
        argument: { name: "contact", value: "quillfeather" },
      }),
      "completion",
    ],
  ] as [string, (contact: string) => Record<string, unknown>, string][])(
    "the audit log and the operator's log have %s, without its arguments, case %# [MCP-21]",
    async (method, params, detail) => {
      const contact = await holder.put.contact({ full_name: "Zebulon Quillfeather" });
      for (const revision of ["2026-07-28", "2025-11-25"] as const) {
        const before = (await entries()).length;
        const response = await request(holder, revision, method, params(contact));
        const requestId = response.headers.get("x-request-id");
        const [entry] = await untilThereAre(before + 1);
        expect(entry, revision).toMatchObject({ detail, request_id: requestId, person: ann.email, key_prefix: null });
        expect(JSON.stringify(entry), revision).not.toMatch(new RegExp(`quillfeather|${contact}`, "i"));
        const line = await vi.waitFor(() => lineOf(requestId ?? ""), { timeout: 20_000, interval: 50 });
        expect(JSON.parse(line), revision).toMatchObject({ wire: "mcp", mcp_method: method });
        expect(line, revision).not.toContain('"tools"');
      }
      await holder.put.archive(contact);
    },
  );
});
