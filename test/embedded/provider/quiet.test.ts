// The development provider is quiet: a file of its own, since most of what its library has to say it says once, when it
// is loaded.
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
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
  dashboardOf,
  mcpUrl,
  newBrowser,
  register,
  signInAs,
  start,
  temporaryDataDir,
  tokensFor,
} from "../../fixtures/sign-in/provider.ts";

vi.setConfig({ testTimeout: 30_000 });

test("prints nothing, whatever requests arrive [OPS-08]", async () => {
  const methods = ["log", "info", "warn", "error", "debug", "trace"] as const;
  const spies = [...methods.map((name) => vi.spyOn(console, name)), vi.spyOn(process, "emitWarning")];
  const streams = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, "write"));
  onTestFinished(() => void vi.restoreAllMocks());
  const dataDir = await temporaryDataDir();
  const provider = await startProvider({ dataDir, users: [ann] });
  onTestFinished(() => provider.stop());
  const early = await newBrowser().open(`${provider.issuer}/auth?client_id=records-dashboard`);
  expect(textOf(early)).toContain("invalid_client");
  provider.serve({ baseUrl: "http://localhost:9", mcpUrl });
  const [dashboard, assistant, browser] = [
    await dashboardOf(provider),
    await assistantOf(provider.issuer),
    newBrowser(),
  ];
  await tokensFor(dashboard, browser, atDashboard);
  const { refresh_token: refresh = "", access_token: token } = await tokensFor(assistant, browser, atAssistant);
  await openid.refreshTokenGrant(assistant, refresh);
  await openid.tokenIntrospection(assistant, refresh);
  await openid.tokenRevocation(assistant, token);
  expect(await register(provider.issuer, { redirect_uris: 7 })).toMatchObject({ error: expect.any(String) });
  const large = await signInAs(
    browser,
    await browser.open((await start(dashboard, { ...atDashboard, prompt: "login" })).url),
    { ...ann, password: "x".repeat(70_000) },
  );
  expect(large.status).toBe(413);
  // A form of which only half arrives.
  const { url } = await browser.open((await start(dashboard, { ...atDashboard, prompt: "login" })).url);
  const half = connect(Number(url.port), "127.0.0.1");
  await once(half, "connect");
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    `Cookie: ${browser.cookiesFor(url)}`,
    "Content-Type: application/x-www-form-urlencoded",
  ];
  half.write([...lines, "Content-Length: 100", "", "login="].join("\r\n"));
  setTimeout(() => half.destroy(), 100);
  await once(half, "close");
  // Where the file goes there is a folder: the client cannot be kept.
  await mkdir(join(dataDir, "provider", "clients.new"));
  expect(await register(provider.issuer)).toEqual({
    error: "server_error",
    error_description: "oops! something went wrong",
  });
  for (const body of ["{", "[]", '"'.repeat(70_000)]) {
    const response = await fetch(`${provider.issuer}/reg`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
  }
  await browser.submit(await browser.open(openid.buildEndSessionUrl(dashboard, { client_id: "records-dashboard" })));
  for (const spy of [...spies, ...streams]) expect(spy).not.toHaveBeenCalled();
});
