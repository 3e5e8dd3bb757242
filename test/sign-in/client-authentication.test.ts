// The service authenticates at the provider by the method that is accepted there, and reports what is rejected.
import { afterEach, beforeAll, expect, test } from "vitest";
import { accessToken, offerIntrospection, statusOf } from "../fixtures/sign-in/assistants.ts";
import type { ResponseHandler } from "../fixtures/sign-in/fake-provider.ts";
import {
  authenticationOf,
  enter,
  json,
  logoutClaims,
  seconds,
  sendLogoutToken,
  toForm,
} from "../fixtures/sign-in/fake-provider.ts";
import { begin, newOwner, sendRequest } from "../fixtures/sign-in/fixture.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider();
/** The method of each request to the token endpoint and to introspection. */
const methods: string[] = [];

beforeAll(() => newOwner(service(), fake().issuer, "person-dora", "dora@example.com"));
afterEach(() => {
  fake().responses.clear();
  delete fake().metadata["token_endpoint_auth_methods_supported"];
  methods.length = 0;
});

/** Accepts one method only, and responds with `rejection` to any other. */
function accept(accepted: string, path: string, response: () => ResponseHandler, rejection = invalidClient): void {
  fake().responses.set(
    path,
    toForm((request, form) => {
      const method = authenticationOf(request, form) ?? "none";
      methods.push(method);
      return method === accepted ? response() : rejection;
    }),
  );
}
const invalidClient = json({ error: "invalid_client" }, 401);
const challenged: ResponseHandler = (_request, response) =>
  void response.writeHead(401, { "WWW-Authenticate": 'Basic realm="the provider"' }).end();

const [basic, post] = ["client_secret_basic", "client_secret_post"];

test.each([
  ["no method", undefined, basic, [basic]],
  ["both methods", [post, basic], basic, [basic]],
  ["the form only", [post], post, [post]],
  ["no method, and the client is registered for the form", undefined, post, [basic, post]],
  ["both methods, and the client is registered for the form", [basic, post], post, [basic, post]],
  ["the form only, and the client is registered for the header", [post], basic, [post, basic]],
  ["neither method", ["private_key_jwt"], basic, [basic]],
])("a sign-in succeeds if the metadata lists %s [DSH-01]", async (_name, offered, accepted, used) => {
  fake().metadata["token_endpoint_auth_methods_supported"] = offered;
  for (const rejection of [invalidClient, challenged]) {
    const one = await service().another({ BASE_URL: base() });
    accept(accepted, "/token", () => json(fake().tokens), rejection);
    methods.length = 0;
    expect((await enter(one.base, fake())).response.status).toBe(303);
    expect(methods).toEqual(used);
    // The method is known now.
    expect((await enter(one.base, fake())).response.status).toBe(303);
    expect(methods).toEqual([...used, accepted]);
    await one.stop();
  }
});

test("introspection uses the other method as well if the provider rejects the first [OAU-13]", async () => {
  offerIntrospection(fake(), () => ({ active: false }));
  accept(post, "/introspect", () => json({ active: false }));
  expect(await statusOf(base(), await accessToken(fake(), { sid: "own", auth_time: seconds() }))).toBe(401);
  expect(methods).toEqual([basic, post]);
});

/** Signs in with this response of the token endpoint. Returns the message of the page and the line of the log. */
async function failWith(handler: ResponseHandler) {
  fake().responses.set("/token", handler);
  const { leadsTo, cookie } = await begin(base());
  const query = new URLSearchParams({ code: "a-code", state: leadsTo.searchParams.get("state") ?? "" });
  const page = await sendRequest(`${base()}/sign-in/callback?${query.toString()}`, { cookie, accept: "text/html" });
  const line = service().logLines.findLast((one) => /"msg":"(request|sign-in) failed"/.test(one)) ?? "{}";
  return { page, err: (JSON.parse(line) as { err?: Record<string, unknown> }).err };
}

test.each([
  ["invalid_client", 401],
  ["unauthorized_client", 400],
  ["unauthorized_client", 401],
  ["invalid_request", 400],
  ["redirect_uri_mismatch", 400],
] as const)(
  "the page and the log name %s with the status %d, and the page does not suggest another attempt [DSH-01]",
  async (error, status) => {
    const { page, err } = await failWith(
      json({ error, error_description: "the secret s3cr3t-of-ours is wrong" }, status),
    );
    expect(page.status).toBe(503);
    expect(page.text).toContain(`requests for tokens (status ${status}, ${error}). Trying again does not help.`);
    expect(page.text).not.toMatch(/in a moment|s3cr3t/);
    expect(err).toMatchObject({ oauth_error: error, status });
    expect(service().logLines.join("\n")).not.toContain("s3cr3t");
  },
);

test("a code that the provider rejects, and a failure of the provider, name its code and can be tried again [DSH-01]", async () => {
  const expired = await failWith(json({ error: "invalid_grant", error_description: "s3cr3t" }, 400));
  expect(expired.page.status).toBe(400);
  expect(expired.page.text).toContain("rejected the code of the sign-in (invalid_grant). Sign in again.");
  expect(expired.err).toMatchObject({ oauth_error: "invalid_grant", status: 400 });
  const broken = await failWith(json({ error: "server_error" }, 500));
  expect(broken.page.status).toBe(503);
  expect(broken.page.text).toContain("could not complete the sign-in (status 500). Try again in a moment.");
});

test.each<[string, () => Record<string, unknown>, string]>([
  ["too far in the future", () => ({ iat: seconds() + 45 }), "its claim iat is wrong, or too far in the future"],
  ["for another client", () => ({ aud: "another" }), "its claim aud is wrong, or too far in the future"],
  ["without a jti", () => ({ jti: undefined }), "its claim jti is missing"],
  ["with a nonce", () => ({ nonce: "n" }), "it has no logout event, or has a nonce"],
  ["that has expired", () => ({ exp: seconds() - 60 }), "it has expired"],
])("the log names why a logout token %s is rejected [DSH-04]", async (_name, changes, why) => {
  expect((await sendLogoutToken(base(), await fake().sign(logoutClaims(fake(), changes())))).status).toBe(400);
  const line = service().logLines.findLast((one) => one.includes("/sign-out/back-channel")) ?? "{}";
  expect(JSON.parse(line)).toMatchObject({ status: 400, cause: why });
});
