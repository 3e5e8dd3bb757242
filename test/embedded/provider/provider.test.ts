// The life of the development provider: what it shows of itself, what it keeps, and that it is quiet.
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import * as openid from "openid-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProvider } from "../../../src/embedded/provider/provider.ts";
import { textOf } from "../../fixtures/sign-in/browser.ts";
import { ann } from "../../fixtures/sign-in/users.ts";
import {
  assistantOf,
  atAssistant,
  atDashboard,
  baseUrl,
  dashboardOf,
  mcpUrl,
  newBrowser,
  register,
  running,
  start,
  temporaryDataDir,
  tokensFor,
  verified,
} from "../../fixtures/sign-in/provider.ts";

vi.setConfig({ testTimeout: 30_000 });

test("the metadata lists every endpoint, at both addresses [OAU-10, OAU-11]", async () => {
  const { issuer } = await running();
  expect(issuer).toMatch(/^http:\/\/localhost:\d+$/);
  const documents = await Promise.all(
    ["openid-configuration", "oauth-authorization-server"].map(async (name) =>
      (await fetch(`${issuer}/.well-known/${name}`)).json(),
    ),
  );
  expect(documents[1]).toEqual(documents[0]);
  expect(documents[0]).toEqual({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    jwks_uri: `${issuer}/jwks`,
    registration_endpoint: `${issuer}/reg`,
    revocation_endpoint: `${issuer}/token/revocation`,
    introspection_endpoint: `${issuer}/token/introspection`,
    end_session_endpoint: `${issuer}/session/end`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    grant_types_supported: ["authorization_code", "refresh_token"],
    response_types_supported: ["code"],
    response_modes_supported: ["form_post", "fragment", "query"],
    code_challenge_methods_supported: ["S256"],
    scopes_supported: ["openid", "offline_access", "email", "profile"],
    claims_supported: ["sub", "email", "email_verified", "name", "sid", "auth_time", "iss"],
    claim_types_supported: ["normal"],
    claims_parameter_supported: false,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256", "ES256"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    authorization_response_iss_parameter_supported: true,
    request_uri_parameter_supported: false,
    client_id_metadata_document_supported: true,
  });
});

test("programs in a browser can discover, register and get tokens [OAU-10]", async () => {
  const { issuer } = await running();
  const origin = "http://localhost:6274";
  for (const [path, method] of [
    ["/.well-known/oauth-authorization-server", "GET"],
    ["/jwks", "GET"],
    ["/reg", "POST"],
    ["/token", "POST"],
    ["/token/revocation", "POST"],
  ] as const) {
    const headers = {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "content-type",
    };
    const preflight = await fetch(`${issuer}${path}`, { method: "OPTIONS", headers });
    expect(preflight.status, path).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toBe("content-type");
    expect(["*", origin]).toContain(preflight.headers.get("access-control-allow-origin"));
    const response = await fetch(`${issuer}${path}`, {
      method,
      headers: { origin },
      ...(method === "POST" ? { body: new URLSearchParams() } : {}),
    });
    expect(["*", origin], path).toContain(response.headers.get("access-control-allow-origin"));
  }
});

test("a restart keeps the issuer, the keys and the registered clients, and replaces the dashboard's secret [OAU-10]", async () => {
  const dataDir = await temporaryDataDir();
  const first = await startProvider({ dataDir, users: [ann] });
  const { client_id: id } = await register(first.issuer);
  const keys = await (await fetch(`${first.issuer}/jwks`)).json();
  expect(keys).toMatchObject({
    keys: [
      { kty: "RSA", alg: "RS256" },
      { kty: "EC", alg: "ES256" },
    ],
  });
  await first.stop();

  const second = await running(dataDir);
  expect(second.issuer).toBe(first.issuer);
  expect(second.client).toEqual({ id: "records-dashboard", secret: expect.not.stringContaining(first.client.secret) });
  expect(await (await fetch(`${second.issuer}/jwks`)).json()).toEqual(keys);
  const assistant = await openid.discovery(new URL(second.issuer), id, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const { access_token: token } = await tokensFor(assistant, newBrowser(), atAssistant);
  expect((await verified(second.issuer, token)).claims).toMatchObject({ aud: mcpUrl, client_id: id });
});

test("a restart keeps sessions, grants and tokens, but not those that a user has ended [OAU-10]", async () => {
  const dataDir = await temporaryDataDir();
  const first = await startProvider({ dataDir, users: [ann] });
  first.serve({ baseUrl, mcpUrl });
  const one = await assistantOf(first.issuer);
  const other = await assistantOf(first.issuer);
  const browser = newBrowser();
  const kept = await tokensFor(one, browser, atAssistant);
  const ended = await tokensFor(other, newBrowser(), atAssistant);
  await openid.tokenRevocation(other, ended.refresh_token ?? "");
  await first.stop();

  await running(dataDir);
  expect(await openid.tokenIntrospection(one, kept.access_token)).toMatchObject({ active: true });
  const renewed = await openid.refreshTokenGrant(one, kept.refresh_token ?? "");
  expect((await verified(first.issuer, renewed.access_token)).claims).toMatchObject({ sub: "person-ann" });
  expect((await browser.open((await start(one, atAssistant)).url)).url.searchParams.has("code")).toBe(true);
  const again = openid.refreshTokenGrant(other, ended.refresh_token ?? "");
  await expect(again).rejects.toMatchObject({ error: "invalid_grant" });
});

test("only the owner can read its files", async () => {
  const dataDir = await temporaryDataDir();
  const { issuer } = await running(dataDir);
  await register(issuer);
  const folder = join(dataDir, "provider");
  const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
  expect(await modeOf(folder)).toBe("700");
  await tokensFor(await assistantOf(issuer), newBrowser(), atAssistant);
  const files = ["clients", "grants", "keys", "port"];
  expect((await readdir(folder)).sort()).toEqual(files);
  for (const name of files) expect(await modeOf(join(folder, name)), name).toBe("600");
});

test("keeps the newest 200 registered clients", async () => {
  const dataDir = await temporaryDataDir();
  const first = await startProvider({ dataDir, users: [ann] });
  const ids: string[] = [];
  for (let count = 0; count < 202; count++) ids.push((await register(first.issuer)).client_id);
  await first.stop();
  const kept = JSON.parse(await readFile(join(dataDir, "provider", "clients"), "utf8")) as { client_id: string }[];
  expect(kept.map(({ client_id: id }) => id)).toEqual(ids.slice(2));
});

test("leaves a port in use to its owner, and recreates files that cannot be read [OPS-09]", async () => {
  const dataDir = await temporaryDataDir();
  await (await startProvider({ dataDir, users: [ann] })).stop();
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  await writeFile(join(dataDir, "provider", "port"), String(port));
  for (const name of ["keys", "clients", "grants"]) await writeFile(join(dataDir, "provider", name), "{ not JSON");
  const { issuer } = await running(dataDir);
  expect(issuer).not.toBe(`http://localhost:${port}`);
  expect(await readFile(join(dataDir, "provider", "port"), "utf8")).toBe(`${new URL(issuer).port}\n`);
  expect((await register(issuer)).client_id).toEqual(expect.any(String));
});

test("stops at once despite open connections, also in the middle of a request", async () => {
  const provider = await startProvider({ dataDir: await temporaryDataDir(), users: [ann] });
  await fetch(`${provider.issuer}/jwks`);
  const slow = connect(Number(new URL(provider.issuer).port), "127.0.0.1");
  onTestFinished(() => void slow.destroy());
  await once(slow, "connect");
  // Reading is necessary to detect the end of the connection.
  slow
    .on("error", () => {})
    .resume()
    .write(
      `POST /token HTTP/1.1\r\nHost: ${new URL(provider.issuer).host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\nabc`,
    );
  const closed = once(slow, "close");
  await provider.stop();
  await closed;
  await expect(fetch(`${provider.issuer}/jwks`)).rejects.toThrow();
});

test("an unknown path is a page with 404, and every page has a strict policy [OPS-08]", async () => {
  const provider = await running();
  const browser = newBrowser();
  const missing = await browser.open(`${provider.issuer}/nothing/here`);
  expect(missing.status).toBe(404);
  const { url } = await start(await dashboardOf(provider), atDashboard);
  for (const page of [missing, await browser.open(url), await browser.open(`${provider.issuer}/auth`)]) {
    expect(textOf(page)).toContain("Development sign-in");
    expect(page.text).toMatch(/^<!DOCTYPE html>\n<html lang="en">/);
    expect(page.text).not.toMatch(/(?:src|href)=/);
    expect(page.headers.get("cache-control")).toBe("no-store");
    const policy = page.headers.get("content-security-policy")?.split("; ");
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src", "base-uri 'none'", "frame-ancestors 'none'"]),
    );
  }
});

test("serves only the issuer's own host", async () => {
  const { issuer } = await running();
  const elsewhere = issuer.replace("localhost", "127.0.0.1");
  const moved = await fetch(`${elsewhere}/jwks?a=b`, { redirect: "manual" });
  expect([moved.status, moved.headers.get("location")]).toEqual([308, `${issuer}/jwks?a=b`]);
  expect((await fetch(`${elsewhere}/reg`, { method: "POST", body: "{}" })).status).toBe(421);
});
