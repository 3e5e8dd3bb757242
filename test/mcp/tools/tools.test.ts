// The tools: how they are described, and what they return that REST does not.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Listed } from "./listed.ts";
import { ajv, useListed } from "./listed.ts";
import type { Outcome } from "./set-up.ts";
import { call, connect, request, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
const { holder, listed, flaws } = useListed(fixture);
let full: string;
let bare: string;
let session: string;
let lonely: string;
beforeAll(async () => {
  const { put } = holder();
  [full = "", bare = ""] = await put.contacts(
    {
      full_name: "Zoë Martin",
      email: "zoe@example.org",
      phone: "+33 1 99 00 41 07",
      notes: 'Likes <b>tea</b> & "quotes"',
      memory: "Met in Lyon",
    },
    {},
  );
  [session = "", lonely = ""] = await put.sessions(
    {
      contact_id: full,
      title: "Kick-off",
      subtitle: "Plan",
      session_date: "2026-03-01T09:00:00Z",
      session_date_end: "2026-03-01T10:00:00Z",
      recording_status: "completed",
      source: "calendar",
    },
    {},
  );
  await put.contactNotes({ contact_id: full, content: "Prefers mornings 🌅", source: "manual" });
  await put.sessionNotes({
    session_id: session,
    title: "Summary",
    content: `Warehouse ${"x".repeat(1_200)}`,
    position: 0,
    type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
  });
  await put.transcript({ session_id: session, transcript: "Maya: hello\nZoë: hello 👋" });
});

describe("the list of tools", () => {
  test("has exactly the documented tools, in their order, in every revision [MCP-06]", async () => {
    const names = [
      "search_contacts",
      "get_contact",
      "list_sessions",
      "get_session",
      "get_session_transcript",
      "search_transcripts",
      "search_notes",
      "search",
      "fetch",
      "whoami",
    ];
    for (const revision of revisions) {
      const { tools } = (await request(holder(), revision, "tools/list")).body.result as { tools: Listed[] };
      expect(
        tools.map(({ name }) => name),
        revision,
      ).toEqual(names);
      expect(tools, revision).toEqual(listed());
    }
  });

  test("has a title, a short description of when to use it, and all four annotations for each, which say that it only reads [MCP-06] [MCP-07]", () => {
    expect(new Set(listed().map(({ title }) => title)).size).toBe(10);
    for (const { name, title, description, annotations } of listed()) {
      expect(name).toMatch(/^[a-z_]{1,64}$/);
      expect(title.length).toBeGreaterThan(5);
      expect(description.length, name).toBeGreaterThan(80);
      expect(description.length, name).toBeLessThanOrEqual(250);
      expect(annotations).toEqual({
        title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
    }
  });

  test("has self-contained schemas of objects for each, in JSON Schema 2020-12 [MCP-07]", () => {
    for (const { name, inputSchema, outputSchema } of listed()) {
      for (const schema of [inputSchema, outputSchema]) {
        expect(ajv.validateSchema(schema), name).toBe(true);
        expect(() => flaws(name, schema === inputSchema ? "inputSchema" : "outputSchema", {}), name).not.toThrow();
        expect(schema.type).toBe("object");
        for (const [, ref] of JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g))
          expect(ref).toMatch(/^#\/\$defs\/\w+$/);
      }
      expect(inputSchema.additionalProperties).toBe(false);
      expect(outputSchema).not.toHaveProperty("additionalProperties");
      for (const [argument, { description = "" }] of Object.entries(inputSchema.properties))
        expect(description.length, `${name}.${argument}`).toBeGreaterThan(15);
    }
  });

  test("has the documented arguments for each, and marks the required ones [MCP-07]", () => {
    expect(
      listed().map(({ name, inputSchema: { properties, required } }) => [name, Object.keys(properties), required]),
    ).toEqual([
      [
        "search_contacts",
        [
          "query",
          "state",
          "has_email",
          "limit",
          "offset",
          "any_word",
          "brief",
          "last_session_before",
          "in_notes",
          "phone_ends_with",
        ],
        [],
      ],
      ["get_contact", ["contact_id"], ["contact_id"]],
      [
        "list_sessions",
        [
          "query",
          "contact_id",
          "from",
          "to",
          "limit",
          "offset",
          "has_transcript",
          "contact_name",
          "any_word",
          "order",
          "has_notes",
        ],
        [],
      ],
      ["get_session", ["session_id"], ["session_id"]],
      ["get_session_transcript", ["session_id", "offset", "query"], ["session_id"]],
      ["search_transcripts", ["query", "contact_id", "from", "to", "limit", "offset"], ["query"]],
      [
        "search_notes",
        ["query", "limit", "offset", "contact_id", "session_id", "kind", "from", "to", "any_word", "note_type"],
        [],
      ],
      ["search", ["query"], ["query"]],
      ["fetch", ["id"], ["id"]],
      ["whoami", [], []],
    ]);
  });
});

describe("the result of a tool", () => {
  const same = async (name: string, given: Record<string, unknown>, path: string): Promise<Outcome> => {
    const { status, body } = await fixture().service.rest(path, { key: holder().key });
    expect(status, path).toBe(200);
    const responses: Outcome[] = [];
    for (const revision of revisions) responses.push(await call(holder(), name, given, revision));
    for (const { isError, structured, text } of responses) {
      expect(isError, text).toBe(false);
      expect(structured, name).toEqual(body);
    }
    expect(flaws(name, "outputSchema", responses[0]?.structured)).toEqual([]);
    return responses[0] as Outcome;
  };

  test("has the body of REST for the same request as structured content, and the same JSON as one text [MCP-08] [MCP-47]", async () => {
    const { structured } = await same("search_contacts", { query: "zoe mart" }, "/v1/contacts?query=zoe%20mart");
    expect(structured.data[0].notes).toBe('Likes <b>tea</b> & "quotes"');
    expect(
      (await same("get_contact", { contact_id: full }, `/v1/contacts/${full}`)).structured.data.notes_timeline,
    ).toHaveLength(1);
    expect((await same("list_sessions", {}, "/v1/sessions")).structured.data).toHaveLength(2);
    await same(
      "list_sessions",
      { contact_id: full, from: "2026-03-01", to: "2026-03-01T09:00:00+00:00", limit: 1, offset: 0, query: "kick" },
      `/v1/sessions?contact_id=${full}&from=2026-03-01&to=2026-03-01T09:00:00%2B00:00&limit=1&offset=0&query=kick`,
    );
    expect((await same("list_sessions", { limit: 1 }, "/v1/sessions?limit=1")).structured.pagination).toEqual({
      limit: 1,
      offset: 0,
      has_more: true,
      next_offset: 1,
    });
    expect(
      (await same("get_session", { session_id: session }, `/v1/sessions/${session}`)).structured.data.notes,
    ).toHaveLength(1);
    expect(
      (await same("search_notes", { query: "warehouse" }, "/v1/notes?query=warehouse")).structured.data[0].truncated,
    ).toBe(true);
  });

  test("equals REST also if everything is null, and if a list is empty [MCP-08]", async () => {
    expect(
      (await same("get_contact", { contact_id: bare }, `/v1/contacts/${bare}`)).structured.data.full_name,
    ).toBeNull();
    expect(
      (await same("get_session", { session_id: lonely }, `/v1/sessions/${lonely}`)).structured.data.client,
    ).toBeNull();
    await same("search_contacts", { query: "nobody" }, "/v1/contacts?query=nobody");
    await same("list_sessions", { query: "nothing" }, "/v1/sessions?query=nothing");
    await same("list_sessions", { offset: 2_147_483_647 }, "/v1/sessions?offset=2147483647");
    await same("search_notes", { query: "nothing", limit: 25, offset: 3 }, "/v1/notes?query=nothing&limit=25&offset=3");
  });

  test("is the same for ids in upper case and for null as an omitted argument [MCP-08]", async () => {
    await same("get_contact", { contact_id: full.toUpperCase() }, `/v1/contacts/${full}`);
    await same(
      "list_sessions",
      { contact_id: null, query: null, from: null, to: null, limit: null, offset: null },
      "/v1/sessions",
    );
  });

  test("conforms to the output schema of search, fetch and the transcript [MCP-08]", async () => {
    for (const [name, given] of [
      ["get_session_transcript", { session_id: session }],
      ["get_session_transcript", { session_id: lonely }],
      ["get_session_transcript", { session_id: session, offset: 99 }],
      ["search", { query: "zoe" }],
      ["search", { query: "nobody" }],
      ["fetch", { id: `contact:${full}` }],
      ["fetch", { id: `contact:${bare}` }],
      ["fetch", { id: `session:${session}` }],
      ["fetch", { id: `session:${lonely}` }],
    ] as const) {
      const { text } = await call(holder(), name, given);
      expect(flaws(name, "outputSchema", JSON.parse(text)), text).toEqual([]);
    }
  });

  test("is accepted in both eras by the official client, which checks it against the schemas [MCP-07] [MCP-08]", async () => {
    for (const modern of [true, false]) {
      const client = await connect(holder(), modern);
      await client.listTools();
      for (const [name, given] of [
        ["get_contact", { contact_id: bare }],
        ["get_session", { session_id: lonely }],
        ["list_sessions", {}],
        ["get_session_transcript", { session_id: lonely }],
      ] as const) {
        const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
        expect(isError ?? false).toBe(false);
        // A hint may follow.
        expect(content[0]).toEqual({ type: "text", text: JSON.stringify(structuredContent) });
      }
    }
  });
});
