// A request of a user with a slow body: a sign-out meanwhile revokes its rights, with a token and with a cookie.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { HeldRequest } from "../fixtures/clients/held-body.ts";
import { holdBody } from "../fixtures/clients/held-body.ts";
import { accessToken, statusOf } from "../fixtures/sign-in/assistants.ts";
import { enter, seconds } from "../fixtures/sign-in/fake-provider.ts";
import { newOwner, sendRequest } from "../fixtures/sign-in/fixture.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider();

/** Long enough for the headers to be checked. If they are not yet, the result is the same. */
const heldMs = 100;

interface User {
  readonly cookie: string;
  readonly token: string;
  signOut(): Promise<void>;
}

/** A new user, signed in to the dashboard, with an access token of the same sign-in. */
async function newUser(name: string): Promise<User> {
  await newOwner(service(), fake().issuer, name, `${name}@example.com`);
  const claims = { sub: name, auth_time: seconds() - 100 };
  const { cookie } = await enter(base(), fake(), { ...claims, email: `${name}@example.com` });
  return {
    cookie,
    token: await accessToken(fake(), claims),
    async signOut() {
      const { status } = await sendRequest(`${base()}/sign-out`, { method: "POST", cookie, origin: base() });
      expect(status).toBe(303);
    },
  };
}

const holdCall = (token: string): HeldRequest =>
  holdBody(
    `${base()}/mcp`,
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_sessions", arguments: {} } },
    {
      Authorization: `Bearer ${token}`,
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-06-18",
    },
  );

const holdCreate = (cookie: string): HeldRequest =>
  holdBody(`${base()}/v1/api-key`, {}, { Cookie: cookie, Origin: base() });

test.each([
  ["first", false],
  ["second", true],
])(
  "a tool call is 401 if its user signed out while its body arrived, at the token's %s use [CON-03]",
  async (when, used) => {
    const { token, signOut } = await newUser(`caller-${when}`);
    if (used) expect(await statusOf(base(), token)).toBe(200);
    const held = holdCall(token);
    await sleep(heldMs);
    await signOut();
    expect(await held.finish()).toBe(401);
  },
);

test("a key is not created if the user signed out while the body arrived [CON-03]", async () => {
  const { cookie, signOut } = await newUser("creator");
  const held = holdCreate(cookie);
  await sleep(heldMs);
  await signOut();
  expect(await held.finish()).toBe(401);
  expect(await service().app.client.db().collection("api_keys").countDocuments()).toBe(0);
});
