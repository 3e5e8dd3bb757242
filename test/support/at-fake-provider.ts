// Set-up for tests that make every token themselves: a provider that signs what it is given, and a service whose users
// sign in there.
import { afterAll, beforeAll } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { FakeProvider } from "../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../fixtures/sign-in/fake-provider.ts";

/**
 * Starts both before the tests of the file and stops them after; `environment` adds to the service's settings, and
 * `prepare` sets what the provider responds first.
 */
export function useFakeProvider({
  environment = {},
  prepare = () => undefined,
}: {
  readonly environment?: Record<string, string>;
  readonly prepare?: (fake: FakeProvider) => void;
} = {}): {
  readonly fake: () => FakeProvider;
  readonly service: () => TestService;
  /** The public base URL of the service. */
  readonly base: () => string;
} {
  let fake: FakeProvider;
  let service: TestService;
  beforeAll(async () => {
    fake = await startFakeProvider();
    prepare(fake);
    service = await startService({ ...fake.settings(), ...environment });
  });
  afterAll(async () => {
    await service.stop();
    await fake.stop();
  });
  return { fake: () => fake, service: () => service, base: () => service.app.baseUrl };
}
