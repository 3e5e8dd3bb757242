// What the doctor's tests share: a healthy installation to look at, a provider that can be broken, and the findings.
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Finding } from "../../../src/cli/doctor/check.ts";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import type { DoctorOptions } from "../../../src/cli/doctor/doctor-context.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { authenticationOf, json, startFakeProvider, toForm } from "../../fixtures/sign-in/fake-provider.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { sessionSecret, startService } from "../../fixtures/service/service.ts";

/** The environment in which this service was started, as an operator has it. */
export function environmentOf(
  { app, mongodbUri, redis, serviceToken }: TestService,
  provider: Record<string, string>,
): Record<string, string> {
  return {
    PORT: String(app.port),
    INTERNAL_PORT: String(app.internalPort),
    BASE_URL: app.baseUrl,
    MONGODB_URI: mongodbUri,
    REDIS_URL: redis.uri,
    SERVICE_TOKENS: serviceToken,
    SESSION_SECRET: sessionSecret,
    RATE_LIMIT: "100000",
    RATE_BURST: "100000",
    ...provider,
  };
}

/** Makes the fake provider one that a service can live with, down to its token endpoint, which checks the client. */
export function makeWhole(fake: FakeProvider): void {
  Object.assign(fake.metadata, {
    code_challenge_methods_supported: ["S256"],
    grant_types_supported: ["authorization_code"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  });
  fake.responses.set("/.well-known/oauth-authorization-server", (request, response) =>
    json(fake.metadata)(request, response),
  );
  fake.responses.set(
    "/auth",
    (_request, response) => void response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Sign in</h1>"),
  );
  fake.responses.set("/token", tokenEndpoint);
}

const tokenEndpoint = toForm((request, form) =>
  authenticationOf(request, form) === undefined
    ? json({ error: "invalid_client" }, 401)
    : json({ error: "invalid_grant" }, 400),
);

/** Everything that is a fault, as `check: message`. */
export async function faultsOf(environment: Record<string, string>, options: DoctorOptions = {}): Promise<string[]> {
  return faultsAmong(await runDoctor(environment, options));
}

export function faultsAmong(findings: readonly Finding[]): string[] {
  return findings.filter(({ status }) => status === "fault").map(({ check, message }) => `${check}: ${message}`);
}

/** The finding of this name; fails where there is none. */
export function findingOf(findings: readonly Finding[], name: string): Finding {
  const found = findings.find(({ check }) => check === name);
  if (found === undefined) throw new Error(`no ${name} among ${findings.map(({ check }) => check).join(", ")}`);
  return found;
}

/** A service and a provider with which nothing is wrong, for the tests of one file. */
export interface Installation {
  readonly fake: FakeProvider;
  readonly service: TestService;
  /** The environment in which the service was started. */
  readonly environment: Record<string, string>;
}

/** Starts an installation before the tests of a file, and repairs its provider after each. */
export function useInstallation(): () => Installation {
  let installation: Installation | undefined;
  let metadata: Record<string, unknown> = {};
  const started = (): Installation => installation ?? failNotStarted();
  beforeAll(async () => {
    const fake = await startFakeProvider();
    makeWhole(fake);
    metadata = { ...fake.metadata };
    const service = await startService(fake.settings());
    installation = { fake, service, environment: environmentOf(service, fake.settings()) };
  });
  afterEach(() => {
    const { fake } = started();
    for (const name of Object.keys(fake.metadata)) delete fake.metadata[name];
    Object.assign(fake.metadata, metadata);
    fake.responses.clear();
    makeWhole(fake);
  });
  afterAll(async () => {
    await installation?.service.stop();
    await installation?.fake.stop();
  });
  return started;
}

function failNotStarted(): never {
  throw new Error("the installation has not started");
}
