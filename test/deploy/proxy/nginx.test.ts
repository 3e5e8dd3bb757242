// nginx of the distribution in front of two instances, by the example in deploy/proxy.
import { expect, test } from "vitest";
import { rest } from "../../../fixtures/service/service.ts";
import { freePort } from "../../../src/embedded/port.ts";
import { nginx, startProxy } from "./programs.ts";
import { proxied } from "./proxied.ts";

proxied(nginx);

test("a request that nginx itself rejects gets the envelope of the API", async () => {
  const proxy = await startProxy(nginx, { publicPort: await freePort(), internalPort: await freePort() });
  try {
    const large = await rest(proxy.base, "/v1/contacts", { headers: { "X-Large": "a".repeat(40_000) } });
    expect([large.status, large.body.error.code]).toEqual([431, "431"]);
    // The port is for TLS alone.
    const plain = await rest(`http://localhost:${proxy.port}`, "/v1/contacts");
    expect([plain.status, plain.body.error.code]).toEqual([400, "400"]);
  } finally {
    await proxy.stop();
  }
});
