// Setup for tests that create tokens themselves: a fake provider that signs them, and a service that uses it.
import { afterAll, beforeAll } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { FakeProvider } from "../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../fixtures/sign-in/fake-provider.ts";

/**
 * Starts both before the tests of the file and stops them afterwards. `environment` extends the service's settings, and
 * `prepare` can change the provider before the service starts.
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
