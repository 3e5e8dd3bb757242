// The setup of the drill: instances behind proxies, a fake identity provider, and an account with one of everything.
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { accessToken, offerIntrospection } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { storeSession } from "../../fixtures/sign-in/stored-session.ts";
import { directUri } from "../../fixtures/databases/database.ts";
import type { Account, Fixture, FixtureOptions } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Proxy } from "../../fixtures/network/proxy.ts";
import { startProxy } from "../../fixtures/network/proxy.ts";
import { putInto } from "../fixture/user.ts";

/** The dependencies to break, and the account that requests use. */
export interface Site {
  readonly fixture: Fixture;
  readonly provider: FakeProvider;
  /** Between the instances and MongoDB. Undefined with three members, whose addresses clients discover. */
  readonly mongoProxy: Proxy | undefined;
  readonly redisProxy: Proxy;
  readonly account: Account;
  /** The cookie of a user who is signed in to the dashboard. */
  readonly cookie: string;
  /** Enough contacts for every call that changes one to have its own. */
  readonly contactIds: readonly string[];
  readonly sessionId: string;
  /** Issues a new access token for that user. */
  token(): Promise<string>;
}

const subject = "person-dora";
const email = "dora@example.com";

/** Runs the work on a site and always cleans up. `environment` has settings for every instance. */
export async function onSite<T>(
  { environment = {}, ...made }: FixtureOptions,
  work: (site: Site) => Promise<T>,
): Promise<T> {
  const provider = await startFakeProvider();
  offerIntrospection(provider, () => ({ active: true }));
  const proxies: Proxy[] = [];
  const proxyTo = async (uri: string): Promise<Proxy> => {
    const proxy = await startProxy(new URL(uri).host);
    proxies.push(proxy);
    return proxy;
  };
  let mongoProxy: Proxy | undefined;
  let redisProxy: Proxy | undefined;
  const options: FixtureOptions = {
    ...made,
    environment: { ...provider.settings(), ...environment },
    async through({ mongodbUri, redisUrl }) {
      redisProxy = await proxyTo(redisUrl);
      if (made.members === 1) mongoProxy = await proxyTo(mongodbUri);
      return {
        mongodbUri: mongoProxy === undefined ? mongodbUri : directUri(mongodbUri, mongoProxy.host),
        redisUrl: redisUrl.replace(new URL(redisUrl).host, redisProxy.host),
      };
    },
  };
  try {
    return await withFixture(options, async (fixture) => {
      if (redisProxy === undefined) throw new Error("no proxy to Redis");
      return work({
        fixture,
        provider,
        mongoProxy,
        redisProxy,
        ...(await seed(fixture, provider)),
        token() {
          const now = Math.floor(Date.now() / 1_000);
          // Has every claim that a sign-out needs, so the service does not introspect it.
          return accessToken(provider, { jti: randomUUID(), sid: "of-the-drill", auth_time: now, exp: now + 86_400 });
        },
      });
    });
  } finally {
    for (const proxy of proxies) await proxy.close();
    await provider.stop();
  }
}

async function seed(
  fixture: Fixture,
  { issuer }: FakeProvider,
): Promise<Pick<Site, "account" | "cookie" | "contactIds" | "sessionId">> {
  const { services, client } = fixture;
  const account = await fixture.account();
  await services.accounts.link(new UUID(account.id), { issuer, subject });
  const put = putInto(fixture, account.id);
  const contactIds = await put.contacts(...Array.from({ length: 12 }, (_, at) => ({ full_name: `Ann Lee ${at}` })));
  const sessionId = await put.session({
    title: "Kickoff",
    session_date: "2026-03-02T09:00:00Z",
    contact_id: contactIds[0],
  });
  await put.transcript({ session_id: sessionId, transcript: "Hello." });
  const cookie = await storeSession(client.db(), { issuer, subject, email });
  return { account, cookie, contactIds, sessionId };
}
