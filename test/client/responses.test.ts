// How the client handles successful, unusual and foreign responses, and that it never shows the key.
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { RecordsClient, RecordsError } from "../../client/src/index.ts";
import { respond, reset, scripted } from "./scripted.ts";

const apiKey = "rec_0123456789abcdefghijklmnopqrstuvwxyz";
const id = "b5d7e64e-c92f-4439-bb41-1662fbfa63ea";
const clientOf = (baseUrl: string): RecordsClient => new RecordsClient({ baseUrl, apiKey, maxAttempts: 1 });

async function failureOf(call: Promise<unknown>): Promise<RecordsError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RecordsError)) throw new Error(`no RecordsError: ${String(error)}`);
  return error;
}

test("an error has the status, the service's message, the details, the request id and Retry-After", async () => {
  const details = [{ field: "email", rule: "max_len", message: "must be at most 254 characters" }];
  const { url } = await scripted(
    respond(
      422,
      {
        error: {
          code: "422",
          message: "email: must be at most 254 characters",
          reason: "INVALID_REQUEST",
          details,
          hint: "new",
        },
      },
      { "X-Request-Id": "abc" },
    ),
    respond(429, { error: { code: "429", message: "Too many requests." } }, { "Retry-After": "3" }),
  );
  const client = clientOf(url);
  const rejected = await failureOf(client.contacts.create({ full_name: "Ann", email: "x" }));
  expect({ ...rejected, message: rejected.message }).toEqual({
    name: "RecordsError",
    status: 422,
    code: "422",
    message: "email: must be at most 254 characters",
    reason: "INVALID_REQUEST",
    details,
    requestId: "abc",
    retryAfter: undefined,
  });
  expect(await failureOf(client.health())).toMatchObject({ status: 429, details: [], retryAfter: 3 });
});

test("passes unknown fields and enum values through", async () => {
  const session = { id, title: "Kick-off", mood: "good", notes: [{ type: "ai_summary", content: null }] };
  const { url } = await scripted(respond(200, { data: session, meta: 1 }));
  expect(await clientOf(url).sessions.get(id)).toEqual(session);
});

test.each([
  [
    "a proxy's page",
    respond(502, "<html>Bad Gateway</html>"),
    { status: 502, message: "The response has the HTTP status 502, and no error message." },
  ],
  ["a page in place of a response", respond(200, "<html>Welcome</html>"), { status: 200, code: "unreadable" }],
  ["JSON of something else", respond(200, { hello: "world" }), { status: 200, code: "unreadable" }],
  ["an empty success", respond(200, ""), { status: 200, code: "unreadable" }],
  [
    "a redirect",
    respond(301, "", { Location: "https://example.com/" }),
    { status: 301, message: "The server redirects. Set baseUrl to the address that it redirects to." },
  ],
  [
    "an envelope of the wrong types",
    respond(404, { error: { code: 404, message: 1, details: "no" } }),
    { status: 404, code: "404", details: [] },
  ],
  [
    "Retry-After as a date",
    respond(429, {}, { "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" }),
    { status: 429, retryAfter: undefined },
  ],
])("%s is a RecordsError with the reason", async (_name, step, error) => {
  const { url } = await scripted(step);
  expect(await failureOf(clientOf(url).health())).toMatchObject(error);
});

test("sends parameters unchanged, whatever they contain, and leaves out those that are undefined", async () => {
  const { url, seen } = await scripted(respond(200, { data: [], pagination: {} }));
  const client = new RecordsClient({ baseUrl: `${url}/behind/` });
  await client.notes.search({ query: "a+b & c/ü", limit: 5 });
  await client.sessions.list({ from: "2026-01-31T09:30:00+01:00" });
  await client.contacts.get("a/b?c").catch(() => undefined);
  await client.sessions.list({ query: undefined, limit: undefined } as object);
  const parameters = seen.map(({ url: path }) => [
    new URL(path, url).pathname,
    Object.fromEntries(new URL(path, url).searchParams),
  ]);
  expect(parameters).toEqual([
    ["/behind/v1/notes", { query: "a+b & c/ü", limit: "5" }],
    ["/behind/v1/sessions", { from: "2026-01-31T09:30:00+01:00" }],
    ["/behind/v1/contacts/a%2Fb%3Fc", {}],
    ["/behind/v1/sessions", {}],
  ]);
  expect(seen[0]?.headers).not.toHaveProperty("authorization");
  for (const none of ["", ".", ".."])
    await expect(client.contacts.get(none)).rejects.toThrow("contact_id: must be the id of a record");
  expect(seen).toHaveLength(4);
});

test("sends the key as a bearer token and shows it in no inspection, JSON, error or cause", async () => {
  const { url, seen } = await scripted(
    respond(401, { error: { code: "401", message: "The API key is unknown." } }),
    reset,
  );
  const client = clientOf(url);
  const errors = [
    await failureOf(client.health()),
    await failureOf(client.health()),
    await failureOf(clientOf("http://127.0.0.1:9").health()),
  ];
  expect(seen[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  expect(errors.map(({ code }) => code)).toEqual(["401", "unreachable", "unreachable"]);
  for (const shown of [client, client.contacts, ...errors, ...errors.map(({ cause }) => cause)]) {
    expect(inspect(shown, { depth: null, showHidden: true })).not.toContain(apiKey);
    expect(JSON.stringify(shown) ?? "").not.toContain(apiKey);
    expect(String(shown)).not.toContain(apiKey);
  }
});

test.each([
  [{ baseUrl: "records.example.com" }, "baseUrl: must be an http or https address"],
  [{ baseUrl: "ftp://records.example.com" }, "baseUrl: must be an http or https address"],
  [{ baseUrl: "https://me:secret@records.example.com" }, "baseUrl: must not have a user, password, query or fragment"],
  [{ apiKey: `${apiKey}\n` }, "apiKey: must be the API key as the dashboard showed it"],
  [{ apiKey: "" }, "apiKey: must be the API key as the dashboard showed it"],
  [{ maxAttempts: 0 }, "maxAttempts: must be a whole number of at least 1"],
  [{ timeout: Infinity }, "timeout: must be a number of milliseconds"],
  [{ attemptTimeout: -1 }, "attemptTimeout: must be a number of milliseconds"],
])("names a wrong option, and no secret with it: %j", (options, message) => {
  let thrown: unknown;
  try {
    new RecordsClient({ baseUrl: "http://localhost:8080", apiKey, ...options });
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TypeError);
  expect((thrown as TypeError).message).toContain(message);
  expect((thrown as TypeError).message).not.toMatch(/rec_|secret/);
});
