// What the tests of the MCP surface's guards share: requests with a token, the exact challenge, and an assistant of a
// person.
import * as openid from "openid-client";
import type { JWTPayload } from "jose";
import { expect } from "vitest";
import type { Person } from "../../../src/embedded/provider/provider.ts";
import type { Browser } from "../../embedded/provider/browser.ts";
import { createBrowser } from "../../embedded/provider/browser.ts";
import { assistantOf, assistantUri, atAssistant, start } from "../../embedded/provider/set-up.ts";
import type { FakeProvider } from "../../sign-in/fake-provider.ts";
import { clientId, clientSecret, json } from "../../sign-in/fake-provider.ts";
import { noteSecret } from "../../support/secrets.ts";
import type { RestAnswer } from "../../support/service.ts";
import { rest } from "../../support/service.ts";

/** One message to `/mcp`, as a client of 2025-06-18 sends it. */
export function send(
  base: string,
  authorization: string | undefined,
  message: object = { method: "tools/list" },
  headers: Record<string, string> = {},
): Promise<RestAnswer> {
  return rest(base, "/mcp", {
    body: { jsonrpc: "2.0", id: 1, ...message },
    headers: {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-06-18",
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      ...headers,
    },
  });
}

/** The status of a request with this token. */
export async function statusOf(base: string, token: string): Promise<number> {
  return (await send(base, `Bearer ${token}`)).status;
}

/** What a method answered: the JSON-RPC message, plain or out of a stream. */
// Tests read answers of every shape.
// eslint-disable-next-line
export async function rpc(base: string, token: string, method: string, params: object = {}): Promise<any> {
  const { status, text } = await send(base, `Bearer ${token}`, { method, params });
  expect(status, text).toBeLessThan(300);
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}

/** Holds an answer to the 401 of the contract; `why` is what it says. */
export function expectChallenge(
  { status, headers, text }: RestAnswer,
  origin: string,
  why: RegExp | string = /./,
  head = false,
): void {
  expect(status, text).toBe(401);
  const challenge = headers.get("www-authenticate") ?? "";
  const [, said = ""] =
    /^Bearer error="invalid_token", error_description="([^"\\]+)", resource_metadata="[^"]+"$/.exec(challenge) ?? [];
  expect(challenge).toBe(
    `Bearer error="invalid_token", error_description="${said}", resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
  );
  expect(said).toMatch(why);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect([
    headers.get("retry-after"),
    headers.get("ratelimit-limit"),
    headers.get("ratelimit-policy"),
    headers.get("cache-control"),
  ]).toEqual([null, null, null, "no-store"]);
  if (!head) expect(JSON.parse(text)).toEqual({ error: { code: "401", message: said } });
}

/** The claims of an access token as it should be, changed; what is undefined is left out. */
export function accessClaims(
  { issuer }: Pick<FakeProvider, "issuer">,
  changes: Record<string, unknown> = {},
): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  const claims: Record<string, unknown> = {
    iss: issuer,
    aud: "whatever the provider issues",
    sub: "person-dora",
    client_id: "an-assistant",
    scope: "openid",
    iat: now,
    exp: now + 600,
    ...changes,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

/** An access token of the fake provider. */
export async function accessToken(
  fake: FakeProvider,
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const token = await fake.sign(accessClaims(fake, changes), { typ: "at+jwt", ...header });
  noteSecret(token);
  return token;
}

/** Offers introspection at a fake provider: `said` knows what it says of which token. Only our client may ask. */
export function offerIntrospection(fake: FakeProvider, said: (token: string) => Record<string, unknown>): void {
  fake.metadata["introspection_endpoint"] = `${fake.issuer}/introspect`;
  fake.answers.set("/introspect", (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const basic =
        request.headers.authorization === `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
      const posted = form.get("client_id") === clientId && form.get("client_secret") === clientSecret;
      json(basic || posted ? said(form.get("token") ?? "") : { error: "invalid_client" }, basic || posted ? 200 : 401)(
        request,
        response,
      );
    });
  });
}

/** An assistant that a person has let in. */
export interface Assistant {
  readonly token: string;
  readonly refreshToken: string;
  readonly client: openid.Configuration;
  readonly browser: Browser;
}

/** A browser that does not visit the assistant. */
export const assistantBrowser = (): Browser => createBrowser([assistantUri]);

/** Lets a new assistant in through the provider's forms, in a browser that may be signed in there already. */
export async function letIn(
  issuer: string,
  person: Person,
  browser = assistantBrowser(),
  parameters: Record<string, string> = {},
  tokenParameters: Record<string, string> = {},
): Promise<Assistant> {
  const client = await assistantOf(issuer);
  const { url, checks } = await start(client, { ...atAssistant, ...parameters });
  let page = await browser.open(url);
  if (page.text.includes('name="password"'))
    page = await browser.submit(page, { login: person.email, password: person.password }, "Sign in");
  if (page.text.includes("Allow access?")) page = await browser.submit(page, {}, "Allow");
  const { access_token: token, refresh_token: refreshToken = "" } = await openid.authorizationCodeGrant(
    client,
    page.url,
    checks,
    tokenParameters,
  );
  for (const secret of [token, refreshToken]) noteSecret(secret);
  return { token, refreshToken, client, browser };
}
