// Access tokens that only the holder of a key may present (DPoP, mutual TLS): presented as plain bearer tokens they are
// rejected, for nothing here proves the key.
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { seconds } from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { accessToken, expectChallenge, offerIntrospection, send, statusOf } from "../../fixtures/sign-in/assistants.ts";
import { rest } from "../../fixtures/service/service.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";

const said = new Map<string, Record<string, unknown>>();
const { fake, service, base } = useFakeProvider({
  environment: { TRUST_PROXY: "1" },
  prepare: (one) => offerIntrospection(one, (token) => said.get(token) ?? { active: true }),
});
beforeAll(() => newOwner(service(), fake().issuer, "person-dora", "dora@example.com"));

const bound =
  /is bound to a key of its client \(DPoP or mutual TLS\), which the service cannot check\. Use a token that is not bound to a key\.$/;

async function signed(claims: Record<string, unknown>, introspected: Record<string, unknown> = {}): Promise<string> {
  const token = await accessToken(fake(), { jti: randomBytes(8).toString("hex"), ...claims });
  said.set(token, { active: true, ...introspected });
  return token;
}

function opaque(introspected: Record<string, unknown>): string {
  const token = randomBytes(20).toString("base64url");
  said.set(token, { active: true, sub: "person-dora", token_type: "Bearer", exp: seconds() + 600, ...introspected });
  return token;
}

test.each([
  ["the thumbprint of a DPoP key", { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" }],
  ["the thumbprint of a client certificate", { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" }],
  ["another way to name a key", { kid: "a-key" }],
  ["a text", "a-key"],
])("a token with %s in its cnf is 401, whether in the token or in its introspection [OAU-07]", async (_name, cnf) => {
  for (const token of [await signed({ cnf }), await signed({}, { cnf }), opaque({ cnf })])
    expectChallenge(await send(base(), `Bearer ${token}`), base(), bound);
});

test.each(["DPoP", "dpop", "PoP", "mac", "N_A", "", 1])(
  "a token of the introspected type %j is 401 [OAU-07]",
  async (type) => {
    for (const token of [await signed({}, { token_type: type }), opaque({ token_type: type })])
      expectChallenge(
        await send(base(), `Bearer ${token}`),
        base(),
        /it is not an access token of the type Bearer, the only one that the service can check/,
      );
  },
);

test("a token that is not bound to a key is accepted, whatever the case of its type; a cnf of null names no key [OAU-08]", async () => {
  for (const token of [
    await signed({}, { token_type: "Bearer" }),
    await signed({}, { token_type: "bEARER" }),
    await signed({ cnf: null }, { cnf: null, token_type: null }),
    opaque({ cnf: null, token_type: "BEARER" }),
  ])
    expect(await statusOf(base(), token)).toBe(200);
});

test("the metadata of the resource does not offer bound tokens [OAU-03]", async () => {
  const { body } = await rest(base(), "/.well-known/oauth-protected-resource", {});
  expect(body.bearer_methods_supported).toEqual(["header"]);
  expect(Object.keys(body as object).filter((name) => /dpop|tls/.test(name))).toEqual([]);
});
