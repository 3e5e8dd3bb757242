// An account owner who rotates, revokes and creates API keys on one version and uses them on every instance.
import { UUID } from "mongodb";
import type { Fixture } from "../../../fixtures/service/fixture.ts";
import { storeSession } from "../../../fixtures/sign-in/stored-session.ts";
import type { Fleet, Version } from "../fleet.ts";
import type { ExpectedResponse, Traffic } from "../traffic.ts";
import type { Story } from "./story.ts";
import { dataOf } from "./story.ts";

/** A provider that is never called, because the session is stored directly. */
export const provider = {
  OIDC_ISSUER: "http://127.0.0.1:9/",
  OIDC_CLIENT_ID: "records",
  OIDC_CLIENT_SECRET: "client-secret-of-the-drill",
} as const;

/** A change of the key takes effect on every instance with the next request. */
export async function keysStory(fixture: Fixture, fleet: Fleet, traffic: Traffic): Promise<Story> {
  const account = await fixture.account();
  const identity = { issuer: provider.OIDC_ISSUER, subject: "person-dora" };
  await fixture.services.accounts.link(new UUID(account.id), identity);
  const cookie = await storeSession(fixture.client.db(), { ...identity, email: "dora@example.com" });
  let [key, previous]: [string | undefined, string | undefined] = [account.key, undefined];

  const change = (
    to: Version,
    method: "POST" | "DELETE",
    path: string,
    expect: readonly number[],
  ): Promise<ExpectedResponse> =>
    traffic.send({
      to,
      what: "a change of the API key",
      method,
      path,
      cookie,
      expect,
      ...(method === "POST" ? { body: {} } : {}),
    });
  async function accepted(by: string, used: string | undefined, expect: number): Promise<void> {
    if (used === undefined) return;
    const versions = [...new Set(fleet.serving().map(({ version }) => version))];
    for (const to of versions) {
      // Sent twice, to reach both instances if a version has two.
      for (let time = 0; time < 2; time++)
        await traffic.send({
          to,
          what: `${expect === 200 ? "the new" : "the former"} key after ${by}`,
          method: "GET",
          path: "/v1/sessions",
          key: used,
          expect: [expect],
        });
    }
  }

  return {
    async step(number, to) {
      if (number % 4 === 3) {
        // 404 if an earlier attempt revoked it and its response was lost.
        const { unconfirmed, reply } = await change(to, "DELETE", "/v1/api-key", [200, 404]);
        if (reply.status === 404 && unconfirmed === 0) traffic.violation(`the ${to} version knows no key to revoke`);
        [key, previous] = [undefined, key];
      } else {
        const path = key === undefined ? "/v1/api-key" : "/v1/api-key/rotate";
        // If an attempt whose response was lost created a key, the next attempt rotates it.
        const response = await change(to, "POST", path, [201, 409]);
        if (response.reply.status === 409 && response.unconfirmed === 0)
          traffic.violation(`the ${to} version has a key that was revoked`);
        const made = response.reply.status === 409 ? await change(to, "POST", "/v1/api-key/rotate", [201]) : response;
        [key, previous] = [String(dataOf(made)["key"]), key];
      }
      await accepted(`a change by the ${to} version`, previous, 401);
      await accepted(`a change by the ${to} version`, key, 200);
    },
    async check() {
      await accepted("everything", previous, 401);
      await accepted("everything", key, 200);
      const path = "/v1/audit-log?limit=25";
      const [older, newer] = [
        await traffic.send({ to: "old", what: "the audit log", method: "GET", path, cookie, expect: [200] }),
        await traffic.send({ to: "new", what: "the audit log", method: "GET", path, cookie, expect: [200] }),
      ];
      if (older.reply.body !== newer.reply.body) traffic.violation("the two versions read different audit logs");
    },
    left: () => ({}),
  };
}
