// Python clients that are generated.
import { expect, test, vi } from "vitest";
import { useGenerators } from "./clients.ts";

// The generator may have to be fetched first.
vi.setConfig({ testTimeout: 900_000 });

const generators = useGenerators();

test("openapi-python-client generates a Python client that calls the service [OAS-02, OAS-03]", async () => {
  const { status, out, error } = await generators("openapi-python-client");
  expect(status, error).toBe(0);
  expect(out).toMatch(/^openapi-python-client +Python +\S+ +yes +yes +yes +0$/m);
});

test("the descriptor set generates a gRPC client for Python that calls the service [WIR-01]", async () => {
  const { status, out, error } = await generators("grpcio-tools");
  expect(status, error).toBe(0);
  expect(out).toMatch(/^grpcio-tools +Python +\S+ +yes +yes +yes +0$/m);
});
