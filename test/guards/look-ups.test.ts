// The cost of forged credentials on a running instance, counted in commands; valid credentials cost their clients
// nothing.
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import type { RawResponse } from "../fixtures/clients/raw.ts";
import { pipelined, tallied } from "../http/pipelined.ts";
import { accessToken, offerIntrospection } from "../fixtures/sign-in/assistants.ts";
import { newOwner } from "../fixtures/sign-in/fixture.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { inForm } from "../support/form.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

const { fake, service } = useFakeProvider({
  environment: { TRUST_PROXY: "1" },
  prepare: (fake) =>
    offerIntrospection(fake, (token) => {
      introspected += 1;
      return { active: token.split(".").length === 3 };
    }),
});

/** How many introspection requests the provider got. */
let introspected = 0;

/** How many look-ups the instance has rejected since its start. */
async function rejectedLookUps(): Promise<number> {
  const text = await (await fetch(`${service().internal}/metrics`)).text();
  return Number(/^records_refused_lookups_total (\d+)$/m.exec(text)?.[1]);
}

/** 200 requests each. */
const waves = inForm(3, 10);

const forgedToken = (): string => `forged-${randomBytes(16).toString("hex")}`;
const forged: readonly (readonly [name: string, path: string, line: () => string, ofKind: RegExp])[] = [
  ["API keys", "/v1/contacts?query=ann", () => `Authorization: Bearer ${newSecret()}`, /^find api_keys$/],
  ["API keys where none is needed", "/v1/health", () => `Authorization: Bearer ${newSecret()}`, /^find api_keys$/],
  ["API keys on an unknown path", "/v1/nothing", () => `Authorization: Bearer ${newSecret()}`, /^find api_keys$/],
  [
    "dashboard sessions at the operations on the key",
    "/v1/api-key",
    () => `Cookie: records_session=${randomBytes(32).toString("base64url")}`,
    /^aggregate dashboard_sessions$/,
  ],
  [
    "dashboard sessions at the dashboard",
    "/",
    () => `Cookie: records_session=${randomBytes(32).toString("base64url")}`,
    /^aggregate dashboard_sessions$/,
  ],
  ["access tokens", "/mcp", () => `Authorization: Bearer ${forgedToken()}`, /./],
];

test.each(forged)(
  "looks up at most 256 of many forged %s of one address, then 20 a second; the others are 429 [RTE-20]",
  async (_name, path, line, ofKind) => {
    const address = randomBytes(4).join(".");
    const monitor = listenToMongo(service().app.client);
    introspected = 0;
    const rejectedBefore = await rejectedLookUps();
    const began = performance.now();
    const responses: RawResponse[] = [];
    // 200 at once: a look-up that is not complete by its deadline takes no token.
    for (let wave = 0; wave < waves; wave++) {
      const sent = Array.from({ length: 4 }, () =>
        pipelined(service().base, path, 50, () => [`X-Forwarded-For: ${address}`, line()]),
      );
      responses.push(...(await Promise.all(sent)).flat());
    }
    // On a busy machine, some are not complete by their deadline.
    const most = 257 + 20 * Math.ceil((performance.now() - began) / 1_000) + 10;
    const commands = monitor.stop().filter(({ label }) => ofKind.test(label) && !/switches/.test(label));
    expect(commands.length).toBeLessThanOrEqual(most);
    expect(introspected).toBeLessThanOrEqual(most);
    expect(commands.length + introspected).toBeGreaterThan(0);
    // Without a free place, a request that needs no key is served without a look-up.
    const least = (200 * waves - most) / (/health|nothing/.test(path) ? 2 : 1);
    expect(tallied(responses)[429]).toBeGreaterThanOrEqual(least);
    for (const { status, headers } of responses) expect(headers.has("retry-after")).toBe(status === 429);
    expect((await rejectedLookUps()) - rejectedBefore).toBeGreaterThanOrEqual(least);
    // Another address has look-ups of its own.
    const [elsewhere] = await pipelined(service().base, path, 1, () => [
      `X-Forwarded-For: ${randomBytes(4).join(".")}`,
      line(),
    ]);
    expect(elsewhere?.status).not.toBe(429);
  },
);

test("200 valid keys and 50 valid tokens at once behind one address are accepted on a fresh instance [RTE-21]", async () => {
  const keys = (await Promise.all(Array.from({ length: 200 }, () => service().account()))).map(({ key }) => key);
  const fresh = await service().another();
  try {
    const address = randomBytes(4).join(".");
    const bearing = (path: string, secrets: readonly string[]): ReturnType<typeof pipelined> =>
      pipelined(fresh.base, path, secrets.length, (turn) => [
        `X-Forwarded-For: ${address}`,
        `Authorization: Bearer ${secrets[turn]}`,
      ]);
    expect(tallied(await bearing("/v1/contacts?query=ann", keys))).toEqual({ 200: 200 });
    await newOwner(service(), fake().issuer, "many-tokens", "many-tokens@example.com");
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, turn) => accessToken(fake(), { sub: "many-tokens", jti: `many-${turn}` })),
    );
    expect(tallied(await bearing("/mcp", tokens))).toEqual({ 405: 50 });
    // The address has no failed look-ups left after these, and the valid keys still pass.
    const monitor = listenToMongo(fresh.app.client);
    await bearing(
      "/v1/contacts?query=ann",
      Array.from({ length: 400 }, () => newSecret()),
    );
    expect(monitor.stop().filter(({ label }) => label === "find api_keys").length).toBeGreaterThanOrEqual(256);
    expect(tallied(await bearing("/v1/contacts?query=ann", keys))).toEqual({ 200: 200 });
  } finally {
    await fresh.stop();
  }
});
