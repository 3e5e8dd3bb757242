// From nothing to a response, as an assistant goes: 401, both metadata documents, registration, the login, a token, the
// tools.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createBrowser } from "../../fixtures/sign-in/browser.ts";
import { ann } from "../../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { createSdkProvider } from "../../fixtures/providers/assistant.ts";
import { assistantUri } from "../../fixtures/sign-in/provider.ts";

const fixture = useSignInFixture();

test.each([
  ["2026-07-28", true],
  ["2025-11-25", false],
] as const)(
  "the official client discovers everything by itself and reads the user's records, in the revision %s [OAU-01, OAU-02, OAU-04, OAU-10, OAU-11, MCP-02, MCP-03]",
  async (revision, modern) => {
    const { base, service, provider } = fixture();
    const account = await service.app.services.accounts.ofIdentity(
      { issuer: provider.issuer, subject: ann.subject },
      undefined,
    );
    const contact = await ingestInto(service, account?._id.toHexString() ?? "").contact({
      full_name: `Grace ${revision}`,
    });
    const assistant = createSdkProvider();
    const open = () => new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { authProvider: assistant });
    const newClient = () =>
      new Client({ name: "assistant", version: "1" }, modern ? { versionNegotiation: { mode: "auto" } } : {});

    const first = open();
    await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError);
    expect(assistant.leadsTo?.origin).toBe(provider.issuer);
    expect(assistant.leadsTo?.searchParams.get("code_challenge_method")).toBe("S256");
    expect(assistant.leadsTo?.searchParams.get("client_id")).toBe(assistant.client?.client_id);

    const browser = createBrowser([assistantUri]);
    let page = await browser.submit(
      await browser.open(assistant.leadsTo ?? ""),
      { login: ann.email, password: ann.password },
      "Sign in",
    );
    expect(page.text).toContain("An assistant");
    page = await browser.submit(page, {}, "Allow");
    await first.finishAuth(page.url.searchParams);

    const client = newClient();
    await client.connect(open());
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const found = await client.callTool({ name: "search_contacts", arguments: { query: `grace ${revision}` } });
    expect((found.structuredContent as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([contact]);
    await client.close();
  },
);

// The second sign-in of a user waits for a later second.
test.concurrent.each([
  ["2026-07-28", true, "openid email"],
  ["2025-11-25", false, "openid email"],
  ["2025-11-25", false, "openid email offline_access"],
] as const)(
  "after a sign-out that skips the provider's page, the official client signs in again and continues: %s, %s, %s [OAU-17]",
  async (_revision, modern, scope) => {
    const { base, provider, newUser } = fixture();
    const user = await newUser();
    const assistant = createSdkProvider(scope);
    const connection = () => new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { authProvider: assistant });
    const newClient = () =>
      new Client({ name: "assistant", version: "1" }, modern ? { versionNegotiation: { mode: "auto" } } : {});
    const browser = createBrowser([assistantUri]);
    const letIn = async (transport: StreamableHTTPClientTransport): Promise<void> => {
      let page = await browser.open(assistant.leadsTo ?? "");
      if (page.text.includes('name="password"'))
        page = await browser.submit(page, { login: user.email, password: user.password }, "Sign in");
      if (page.text.includes("Allow access?")) page = await browser.submit(page, {}, "Allow");
      await transport.finishAuth(page.url.searchParams);
    };
    const first = connection();
    await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError);
    await letIn(first);
    const transport = connection();
    const client = newClient();
    await client.connect(transport);
    expect((await client.callTool({ name: "list_sessions", arguments: {} })).isError).not.toBe(true);
    const refreshToken = assistant.held?.refresh_token;
    expect(refreshToken).toMatch(/./);

    const { cookie } = await signIn(fixture(), user);
    expect((await sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base })).status).toBe(303);
    assistant.leadsTo = undefined;
    await expect(client.callTool({ name: "list_sessions", arguments: {} })).rejects.toThrow(UnauthorizedError);
    expect([assistant.held, (assistant.leadsTo as URL | undefined)?.origin]).toEqual([undefined, provider.issuer]);

    await letIn(transport);
    expect((await client.callTool({ name: "list_sessions", arguments: {} })).isError).not.toBe(true);
    await client.close();
  },
);
