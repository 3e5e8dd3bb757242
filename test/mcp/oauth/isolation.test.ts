// A token reaches its own user's records and nothing else: not another's records, not another surface; and no other
// credential reaches /mcp.
import { beforeAll, expect, test } from "vitest";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { share } from "../../support/form.ts";
import { openSession } from "../../support/user.ts";
import { randomId, rest } from "../../fixtures/service/service.ts";
import { requestsOn } from "../../fixtures/clients/operations.ts";
import { openWires } from "../../fixtures/clients/wires.ts";
import { accessToken, rpc, send, statusOf } from "../../fixtures/sign-in/assistants.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider();

/** Two users with records of the same names and words, each with a mark of their own in them. */
let dora: User;
let eric: User;

interface User {
  readonly token: string;
  readonly key: string;
  readonly contact: string;
  readonly session: string;
  readonly ids: readonly string[];
}

beforeAll(async () => {
  [dora, eric] = [await user("dora", "marigold"), await user("eric", "foxglove")];
});

async function user(name: string, mark: string): Promise<User> {
  const account = await newOwner(service(), fake().issuer, name, `${name}@example.com`);
  const put = ingestInto(service(), account.toHexString());
  const contact = await put.contact({ full_name: "Ann Lee", email: `ann@${mark}.example`, external_id: "ann" });
  const session = await put.session({
    title: "Budget",
    subtitle: mark,
    contact_id: contact,
    session_date: "2026-01-31T09:30:00Z",
    external_id: "budget",
  });
  const notes = [
    ...(await put.contactNotes({ contact_id: contact, content: `Asked for a budget ${mark}`, source: "import" })),
    ...(await put.sessionNotes({
      session_id: session,
      content: `Summary ${mark}`,
      type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
      position: 0,
      title: "Summary",
    })),
  ];
  await put.transcript({ session_id: session, transcript: `We spoke of the ${mark}` });
  const { secret: key } = await service().app.services.apiKeys.create(account, "read_write");
  return {
    token: await accessToken(fake(), { sub: name, email: `${name}@example.com` }),
    key,
    contact,
    session,
    ids: [contact, session, ...notes, account.toHexString()],
  };
}

/** Every way to request a record by its id. A new one must be added here. */
const byId: readonly (readonly [method: string, params: (id: string) => object])[] = [
  ["tools/call", (id) => ({ name: "get_contact", arguments: { contact_id: id } })],
  ["tools/call", (id) => ({ name: "get_session", arguments: { session_id: id } })],
  ["tools/call", (id) => ({ name: "get_session_transcript", arguments: { session_id: id } })],
  ["tools/call", (id) => ({ name: "search_transcripts", arguments: { query: "spoke", contact_id: id } })],
  ["tools/call", (id) => ({ name: "search_transcripts", arguments: { query: id } })],
  ["tools/call", (id) => ({ name: "list_sessions", arguments: { contact_id: id } })],
  ["tools/call", (id) => ({ name: "fetch", arguments: { id: `contact:${id}` } })],
  ["tools/call", (id) => ({ name: "fetch", arguments: { id: `session:${id}` } })],
  ["tools/call", (id) => ({ name: "search", arguments: { query: id } })],
  ["tools/call", (id) => ({ name: "search_contacts", arguments: { query: id } })],
  ["tools/call", (id) => ({ name: "search_notes", arguments: { query: id } })],
  ["resources/read", (id) => ({ uri: `contact://${id}` })],
  ["resources/read", (id) => ({ uri: `session://${id}` })],
  ["resources/read", (id) => ({ uri: id })],
  [
    "completion/complete",
    (id) => ({ ref: { type: "ref/resource", uri: "contact://{id}" }, argument: { name: "id", value: id } }),
  ],
  ["resources/list", () => ({})],
];
const prompts: readonly (readonly [string, string])[] = [
  ["contact_id", "contact"],
  ["session_id", "session"],
];

test("each tool and resource responds to every id of another account as to a random one [ISO-07, MCP-06]", async () => {
  const listed = (await rpc(base(), dora.token, "tools/list")).result.tools.map(({ name }: { name: string }) => name);
  expect(listed).toHaveLength(10);
  for (const [turn, [method, params]] of byId.entries()) {
    for (const id of share(eric.ids, 2, turn)) {
      const random = randomId();
      const [theirs, nobodys] = [
        await rpc(base(), dora.token, method, params(id)),
        await rpc(base(), dora.token, method, params(random)),
      ];
      expect(JSON.stringify(theirs).replaceAll(id, "<id>")).toBe(JSON.stringify(nobodys).replaceAll(random, "<id>"));
      expect(JSON.stringify(theirs)).not.toContain("foxglove");
    }
  }
});

test("lists, searches and prompts contain only the user's own records [ISO-07]", async () => {
  const calls = [
    ["search_contacts", { query: "ann" }],
    ["list_sessions", {}],
    ["list_sessions", { query: "budget" }],
    ["search_notes", { query: "budget" }],
    ["search_transcripts", { query: "spoke" }],
    ["search_transcripts", { query: "we spoke of" }],
    ["search", { query: "ann budget" }],
    ["search", { query: "budget" }],
  ] as const;
  for (const [mine, theirs] of [
    ["marigold", "foxglove"],
    ["foxglove", "marigold"],
  ] as const) {
    const holder = mine === "marigold" ? dora : eric;
    const other = mine === "marigold" ? eric : dora;
    for (const [name, given] of calls) {
      const text = JSON.stringify(await rpc(base(), holder.token, "tools/call", { name, arguments: given }));
      for (const foreign of [theirs, ...other.ids]) expect([name, text.includes(foreign)]).toEqual([name, false]);
    }
    for (const [name] of calls)
      expect(
        JSON.stringify(await rpc(base(), holder.token, "tools/call", { name, arguments: { query: theirs } })),
      ).not.toMatch(new RegExp(`${other.ids.join("|")}`));
  }
});

test("a prompt for a record of another account says the same as for an unknown record [ISO-07]", async () => {
  const { result } = await rpc(base(), dora.token, "prompts/list");
  for (const { name, arguments: known } of result.prompts as {
    name: string;
    arguments?: { name: string; required?: boolean }[];
  }[]) {
    const fill = (id: string): object => ({
      name,
      arguments: Object.fromEntries(
        (known ?? []).map(({ name: one }) => [one, prompts.some(([wanted]) => wanted === one) ? id : "foxglove"]),
      ),
    });
    for (const id of eric.ids) {
      const random = randomId();
      const [theirs, nobodys] = [
        await rpc(base(), dora.token, "prompts/get", fill(id)),
        await rpc(base(), dora.token, "prompts/get", fill(random)),
      ];
      expect(JSON.stringify(theirs).replaceAll(id, "<id>")).toBe(JSON.stringify(nobodys).replaceAll(random, "<id>"));
    }
  }
});

test("no header, argument or field that a client sends selects another account [ISO-07]", async () => {
  const account = eric.ids.at(-1) ?? "";
  const headers = {
    "records-account-id": account,
    "X-Account-Id": account,
    Cookie: (await openSession(service(), "eric", "eric@example.com")).cookie,
  };
  const { text } = await send(
    base(),
    `Bearer ${dora.token}`,
    { method: "tools/call", params: { name: "list_sessions", arguments: {}, _meta: { account_id: account } } },
    headers,
  );
  expect([text.includes("marigold"), text.includes("foxglove")]).toEqual([true, false]);
});

test("two users over one connection, in turn and at once, each get their own records [ISO-07]", async () => {
  const responses = await Promise.all(
    Array.from({ length: 30 }, async (_, turn) => {
      const { token } = turn % 2 === 0 ? dora : eric;
      return JSON.stringify(await rpc(base(), token, "tools/call", { name: "list_sessions", arguments: {} }));
    }),
  );
  for (const [turn, text] of responses.entries())
    expect([text.includes("marigold"), text.includes("foxglove")]).toEqual([turn % 2 === 0, turn % 2 === 1]);
});

test("an access token is accepted nowhere else: not over REST, Connect or gRPC, on the dashboard, or on the internal listener [ISO-07, MCP-12]", async () => {
  expect(await statusOf(base(), dora.token)).toBe(200);
  const { wires, close } = openWires(service());
  try {
    for (const wire of wires) {
      for (const [name, request] of requestsOn(wire, { contact: dora.contact, session: randomId() })) {
        const { http, code } = await wire.call({ rpc: name, key: dora.token, request });
        expect([wire.name, name, http ?? 401, code ?? "unauthenticated"]).toEqual([
          wire.name,
          name,
          401,
          "unauthenticated",
        ]);
      }
    }
  } finally {
    close();
  }
  const headers = { Authorization: `Bearer ${dora.token}` };
  for (const [path, method] of [
    ["/v1/api-key", "GET"],
    ["/v1/api-key", "POST"],
    ["/v1/api-key/rotate", "POST"],
    ["/v1/api-key", "DELETE"],
    ["/v1/audit-log", "GET"],
  ]) {
    expect([
      path,
      (await rest(base(), path ?? "", { method: method ?? "GET", headers: { ...headers, Origin: base() } })).status,
    ]).toEqual([path, 401]);
  }
  const page = await rest(base(), "/", { headers: { ...headers, Cookie: `records_session=${dora.token}` } });
  expect(page.text).not.toContain("dora@example.com");
  for (const call of [
    "records.v1.SessionService/ListSessions",
    "records.admin.v1.AccountService/ListAccounts",
    "records.ingest.v1.IngestService/UpsertContacts",
  ]) {
    const { status } = await service().internalCall(
      call,
      {},
      { ...headers, "records-account-id": dora.ids.at(-1) ?? "" },
    );
    expect([call, status]).toEqual([call, 401]);
  }
});

test("a user without an account is 403 with the reason, and so is one whose account was deleted, from the next request on [ISO-07]", async () => {
  const expected = {
    jsonrpc: "2.0",
    id: null,
    error: {
      code: "403",
      message: "The signed-in user has no account. Ask the operator of the service to link one.",
      reason: "NO_ACCOUNT",
    },
  };
  const nobody = await send(base(), `Bearer ${await accessToken(fake(), { sub: "nobody" })}`);
  expect([nobody.status, nobody.body, nobody.headers.get("www-authenticate")]).toEqual([403, expected, null]);
  const finn = await user("finn", "bluebell");
  expect(await statusOf(base(), finn.token)).toBe(200);
  expect(
    (await service().internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: finn.ids.at(-1) }))
      .status,
  ).toBe(200);
  const gone = await send(base(), `Bearer ${finn.token}`);
  expect([gone.status, gone.body]).toEqual([403, expected]);
});
