// What the doctor reports of a provider that would keep assistants out, and what it cannot find out without a user.
import { beforeAll, expect, test } from "vitest";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import { json } from "../../fixtures/sign-in/fake-provider.ts";
import type { Installation } from "./set-up.ts";
import { environmentOf, faultsAmong, findingOf, useInstallation } from "./set-up.ts";

const installation = useInstallation();
let fake: Installation["fake"];
let service: Installation["service"];
let environment: Installation["environment"];
beforeAll(() => {
  ({ fake, service, environment } = installation());
});

/** Registers clients unless they request one of the rejected scopes, as Keycloak does. Returns their requests. */
function register(rejected: readonly string[], more: object = {}): { readonly scope?: string }[] {
  const registered: { readonly scope?: string }[] = [];
  fake.metadata["registration_endpoint"] = `${fake.issuer}/register`;
  fake.responses.set("/register", (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const client = JSON.parse(Buffer.concat(chunks).toString()) as { readonly scope?: string };
      registered.push(client);
      const isRejected = (client.scope ?? "").split(" ").some((scope) => rejected.includes(scope));
      const rejection = {
        error: "insufficient_scope",
        error_description: "Not permitted to use specified clientScope",
      };
      (isRejected ? json(rejection, 403) : json({ ...client, ...more, client_id: "an-assistant" }, 201))(
        request,
        response,
      );
    });
  });
  return registered;
}

test("registers with the scopes that an assistant would send, and reports that the provider rejects one [OPS-57]", async () => {
  fake.metadata["scopes_supported"] = ["openid", "email", "profile", "offline_access"];
  const registered = register(["openid"]);
  expect(findingOf(await runDoctor(environment, { register: true }), "mcp.registration").status).toBe("ok");
  const other = await service.another({ ...fake.settings(), MCP_SCOPES: "openid email" });
  try {
    const findings = await runDoctor(environmentOf(other, fake.settings()), { register: true });
    expect(faultsAmong(findings).join("\n")).toMatch(
      /^mcp\.registration: An assistant cannot register at .* with the scopes "openid email offline_access": .*insufficient_scope/,
    );
  } finally {
    await other.stop();
  }
  expect(registered.map(({ scope }) => scope)).toEqual(["email profile offline_access", "openid email offline_access"]);
});

test("reports a response to the registration that assistants reject, and sends a state that Ory Hydra accepts [OPS-57]", async () => {
  let state = "";
  fake.responses.set("/auth", (request, response) => {
    state = new URL(request.url ?? "", fake.issuer).searchParams.get("state") ?? "";
    response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Sign in</h1>");
  });
  register([]);
  await runDoctor(environment, { register: true });
  expect(state.length).toBeGreaterThanOrEqual(16);
  register([], { client_uri: "", contacts: null });
  expect(findingOf(await runDoctor(environment, { register: true }), "mcp.registration")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/registers an assistant, but its response is invalid, .*: client_uri: Invalid URL;/),
    fix: expect.stringMatching(/create a public client for each assistant/),
  });
});

test("reports what it did not try if it may not register a client [OPS-57]", async () => {
  register([]);
  const findings = await runDoctor(environment);
  expect(findingOf(findings, "mcp.registration")).toMatchObject({
    status: "note",
    message: expect.stringMatching(/^Not tried: whether the provider lets an assistant register/),
  });
  expect(findingOf(findings, "provider.registration").message).toMatch(/whether it accepts them is part of/);
});

test("reports an audience that only a sign-in can show as a note [OPS-57]", async () => {
  const MCP_AUDIENCE = `${service.app.baseUrl}/mcp`;
  expect(findingOf(await runDoctor({ ...environment, MCP_AUDIENCE }), "mcp.audience")).toMatchObject({
    status: "note",
    message: expect.stringMatching(/Only a sign-in shows whether the provider follows the request/),
  });
});

test("reports that a provider without a Date header has a clock that is not compared [OPS-04]", async () => {
  expect(findingOf(await runDoctor(environment), "clock.provider").status).toBe("ok");
  fake.responses.set("/.well-known/openid-configuration", (request, response) => {
    response.sendDate = false;
    json(fake.metadata)(request, response);
  });
  expect(findingOf(await runDoctor(environment), "clock.provider")).toMatchObject({
    status: "note",
    message: "The identity provider's clock is not compared, because no response shows its time (Date).",
  });
});

test("reports that tokens which are no JWTs are rejected without introspection, and that offline_access may outlast a sign-out [OPS-04]", async () => {
  fake.metadata["scopes_supported"] = ["openid", "offline_access"];
  const findings = await runDoctor(environment);
  expect(findingOf(findings, "provider.introspection")).toMatchObject({
    status: "note",
    message: expect.stringMatching(/every access token that is not a JWT is rejected\.$/),
  });
  expect(findingOf(findings, "provider.offline_access")).toMatchObject({
    status: "note",
    fix: expect.stringMatching(/^Do not offer offline_access/),
  });
});
