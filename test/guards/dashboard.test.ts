// The throttle of the dashboard's pages: a signed-in user takes from the account's bucket, from any address.
import type { UUID } from "mongodb";
import { expect, test } from "vitest";
import { ann, ben } from "../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();

test("the pages of a signed-in user, the operations on the key and the key itself share the account's bucket [RTE-18, RTE-10]", async () => {
  const { cookie } = await signIn(fixture(), ann);
  const { cookie: other } = await signIn(fixture(), ben);
  const tight = await fixture().service.another({
    BASE_URL: fixture().base,
    RATE_LIMIT: "1",
    RATE_BURST: "1",
    TRUST_PROXY: "1",
  });
  try {
    let addresses = 0;
    const from = (): Record<string, string> => ({ "X-Forwarded-For": `10.0.0.${++addresses}` });
    const page = (of: string) => sendRequest(`${tight.base}/`, { cookie: of, headers: from() });
    const account = (
      await fixture().service.app.services.accounts.ofIdentity(
        { issuer: fixture().provider.issuer, subject: ann.subject },
        undefined,
      )
    )?._id;
    const { secret: key } = await fixture().service.app.services.apiKeys.create(account as UUID, "read_write");
    const ways = [
      () => page(cookie),
      () => sendRequest(`${tight.base}/v1/api-key`, { cookie, headers: from() }),
      () => tight.rest("/v1/sessions", { key, headers: from() }),
    ];
    const began = performance.now();
    // Takes the only token of the bucket.
    expect((await page(cookie)).status).toBe(200);
    const responses = await Promise.all(Array.from({ length: 12 }, (_, turn) => ways[turn % ways.length]?.()));
    const passed = responses.filter((response) => response?.status !== 429).length;
    // The bucket refills by one a second. The clocks of the test and of Redis may differ a little.
    expect(passed).toBeLessThanOrEqual(Math.floor((performance.now() - began) / 1_000 + 0.1));
    // Another account has its own bucket, and so does each address.
    expect((await page(other)).status).toBe(200);
    expect((await page("")).status).toBe(200);
  } finally {
    await tight.stop();
  }
});
