// A provider for a test, its people, and the clients that sign them in.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from "jose";
import * as openid from "openid-client";
import { onTestFinished } from "vitest";
import { startProvider, type DevelopmentProvider, type Person } from "../../../src/embedded/provider/provider.ts";
import { createBrowser, type Browser, type Page } from "./browser.ts";

export const ann: Person = {
  subject: "person-ann",
  email: "ann@example.com",
  name: "Ann Example",
  password: "ann's secret",
};
export const ben: Person = {
  subject: "person-ben",
  email: "ben@example.com",
  name: "Ben Example",
  password: "ben's secret",
};

/** Nothing listens here: the browser of the tests tells these addresses and does not visit them. */
export const baseUrl = "http://localhost:9";
export const mcpUrl = "http://localhost:9/mcp";
export const assistantUri = "http://127.0.0.1:9/callback";

export async function temporaryDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "records-provider-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** A provider that knows where the service is and ends with the test. */
export async function running(dataDir?: string, where = { baseUrl, mcpUrl }): Promise<DevelopmentProvider> {
  const provider = await startProvider({ dataDir: dataDir ?? (await temporaryDataDir()), people: [ann, ben] });
  onTestFinished(() => provider.stop());
  provider.serve(where);
  return provider;
}

export function newBrowser(): Browser {
  return createBrowser([`${baseUrl}/`, assistantUri, "https://assistant.example/"]);
}

export function dashboardOf({ issuer, client }: DevelopmentProvider): Promise<openid.Configuration> {
  return discover(issuer, client.id, client.secret, openid.ClientSecretBasic(client.secret));
}

function discover(
  issuer: string,
  id: string,
  secret: string | undefined,
  authentication: openid.ClientAuth,
): Promise<openid.Configuration> {
  return openid.discovery(new URL(issuer), id, secret, authentication, { execute: [openid.allowInsecureRequests] });
}

/** Registers an assistant's client, without a secret; the answer is its metadata. */
export async function register(
  issuer: string,
  metadata: Record<string, unknown> = {},
): Promise<Record<string, unknown> & { client_id: string }> {
  const response = await fetch(`${issuer}/reg`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "An assistant",
      redirect_uris: [assistantUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...metadata,
    }),
  });
  return (await response.json()) as Record<string, unknown> & { client_id: string };
}

/** An assistant that has just registered. */
export async function assistantOf(issuer: string, metadata?: Record<string, unknown>): Promise<openid.Configuration> {
  const { client_id: id } = await register(issuer, metadata);
  return discover(issuer, id, undefined, openid.None());
}

/** An authorization request, and what its answer is checked with. */
export interface Started {
  readonly url: URL;
  readonly checks: { pkceCodeVerifier: string; expectedState: string };
}

export async function start(client: openid.Configuration, parameters: Record<string, string>): Promise<Started> {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(client, {
    scope: "openid email profile",
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...parameters,
  });
  return { url, checks: { pkceCodeVerifier: verifier, expectedState: state } };
}

export const atDashboard = { redirect_uri: `${baseUrl}/sign-in/callback` };
export const atAssistant = { redirect_uri: assistantUri };

export function signInAs(browser: Browser, page: Page, { email, password }: Person): Promise<Page> {
  return browser.submit(page, { login: email, password }, "Sign in");
}

/** The tokens of a sign-in with all pages that it takes. */
export async function tokensFor(
  client: openid.Configuration,
  browser: Browser,
  parameters: Record<string, string>,
  tokenParameters?: Record<string, string>,
): Promise<openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers> {
  const { url, checks } = await start(client, parameters);
  let page = await browser.open(url);
  if (page.text.includes('name="password"')) page = await signInAs(browser, page, ann);
  if (page.text.includes("Allow access?")) page = await browser.submit(page, {}, "Allow");
  return openid.authorizationCodeGrant(client, page.url, checks, tokenParameters);
}

/** The claims of a token that the provider signed, with its header. */
export async function verified(
  issuer: string,
  token: string,
  options: { audience?: string; typ?: string } = {},
): Promise<{ claims: JWTPayload; alg: string; typ: string | undefined }> {
  const keys = createLocalJWKSet((await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet);
  const { payload, protectedHeader } = await jwtVerify(token, keys, { issuer, ...options });
  return { claims: payload, alg: protectedHeader.alg, typ: protectedHeader.typ };
}
