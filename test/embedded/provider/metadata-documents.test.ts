// Clients that name themselves by the address of a metadata document, at the development provider.
import * as openid from "openid-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { textOf } from "../../fixtures/sign-in/browser.ts";
import { ann } from "../../fixtures/sign-in/users.ts";
import {
  assistantUri,
  atAssistant,
  newBrowser,
  running,
  signInAs,
  start,
  verified,
} from "../../fixtures/sign-in/provider.ts";
import { mayFetch } from "../../../src/embedded/provider/metadata-documents.ts";

vi.setConfig({ testTimeout: 30_000 });

const clientId = "https://assistant.example.com/oauth/client.json";
const metadata = {
  client_id: clientId,
  client_name: "An assistant with a document",
  redirect_uris: [assistantUri],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

const real = globalThis.fetch;

/** Serves the document in place of the network; the requests that were made of it. */
function serve(document: object, init: ResponseInit = { headers: { "Content-Type": "application/json" } }) {
  const requests: { url: string; options: RequestInit & { dispatcher?: unknown } }[] = [];
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation((input, options = {}) => {
    const url = String(input);
    if (!url.startsWith("https://")) return real(input, options);
    requests.push({ url, options });
    return Promise.resolve(new Response(JSON.stringify(document), init));
  });
  onTestFinished(() => spy.mockRestore());
  return requests;
}

function discovered(issuer: string, id: string): Promise<openid.Configuration> {
  return openid.discovery(new URL(issuer), id, undefined, openid.None(), { execute: [openid.allowInsecureRequests] });
}

test("a user grants access to a client that its document identifies; the page names its host, and the client can refresh [OAU-24]", async () => {
  const { issuer } = await running();
  const requests = serve(metadata);
  const client = await discovered(issuer, clientId);
  expect(client.serverMetadata()["client_id_metadata_document_supported"]).toBe(true);
  const { url, checks } = await start(client, atAssistant);
  const browser = newBrowser();
  const page = await signInAs(browser, await browser.open(url), ann);
  expect(textOf(page)).toContain("assistant.example.com: An assistant with a document");
  const back = await browser.submit(page, {}, "Allow");
  const tokens = await openid.authorizationCodeGrant(client, back.url, checks);
  expect((await verified(issuer, tokens.access_token)).claims["client_id"]).toBe(clientId);
  const again = await openid.refreshTokenGrant(client, tokens.refresh_token ?? "");
  expect((await verified(issuer, again.access_token)).claims["client_id"]).toBe(clientId);
  // Once, without redirects, and by the dispatcher that breaks connections to private addresses off.
  expect(requests.map(({ url: one }) => one)).toEqual([clientId]);
  expect(requests[0]?.options).toMatchObject({ redirect: "manual", dispatcher: expect.anything() });
});

test.each([
  ["names another client", { ...metadata, client_id: `${clientId}?other` }],
  ["has a secret", { ...metadata, client_secret: "a secret" }],
  ["receives its codes unencrypted over a network", { ...metadata, redirect_uris: ["http://assistant.example.com/"] }],
  ["does not list the requested redirect URI", { ...metadata, redirect_uris: ["http://127.0.0.1:9/other"] }],
])("a document that %s signs nobody in [OAU-24]", async (_, document) => {
  const { issuer } = await running();
  serve(document);
  const { url } = await start(await discovered(issuer, clientId), atAssistant);
  const response = await fetch(url, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
});

test("does not follow a redirect [OAU-24]", async () => {
  const { issuer } = await running();
  const requests = serve({}, { status: 302, headers: { Location: "http://127.0.0.1:9/" } });
  const { url } = await start(await discovered(issuer, clientId), atAssistant);
  expect((await fetch(url, { redirect: "manual" })).status).toBe(400);
  expect(new Set(requests.map(({ url: one }) => one))).toEqual(new Set([clientId]));
});

const inside = [
  "https://localhost/client.json",
  "https://localhost:8443/client.json",
  "https://127.0.0.1/client.json",
  "https://127.1/client.json",
  "https://0x7f.0.0.1/client.json",
  "https://2130706433/client.json",
  "https://10.0.0.1/client.json",
  "https://169.254.169.254/latest/meta-data",
  "https://[::1]/client.json",
  "https://[::ffff:127.0.0.1]/client.json",
  "https://intranet/client.json",
  "https://intranet./client.json",
  "https://printer.local/client.json",
  "https://printer.local./client.json",
  "https://records.svc.cluster.internal/client.json",
  "https://app.localhost/client.json",
  "https://assistant.example.com:8443/client.json",
  "http://assistant.example.com/client.json",
  "https://user@localhost/client.json",
];

test("never requests a document at a private or local address [OAU-24]", async () => {
  const { issuer } = await running();
  for (const id of inside) {
    const requests = serve({ ...metadata, client_id: id });
    const { url } = await start(await discovered(issuer, id), atAssistant);
    const { status } = await fetch(url, { redirect: "manual" });
    expect([id, status, requests, mayFetch(id)]).toEqual([id, 400, [], false]);
  }
});
