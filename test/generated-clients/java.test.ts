// A Java client that OpenAPI Generator generates.
import { expect, test, vi } from "vitest";
import { useGenerators } from "./clients.ts";

// The generator may have to be fetched first.
vi.setConfig({ testTimeout: 900_000 });

const generators = useGenerators();

test("OpenAPI Generator generates a Java client that compiles and calls the service [OAS-02, OAS-03]", async () => {
  const { status, out, error } = await generators("java");
  expect(status, error).toBe(0);
  expect(out).toMatch(/^java +Java +\S+ +yes +yes +yes +0$/m);
});
