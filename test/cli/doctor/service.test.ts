// What the doctor finds out about a service that runs: its token, what a proxy does to its responses, and the way in
// for assistants.
import { once } from "node:events";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import { createRedaction, shownUri } from "../../../src/cli/doctor/redaction.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { Installation } from "./set-up.ts";
import { faultsAmong, faultsOf, findingOf, useInstallation } from "./set-up.ts";

const installation = useInstallation();
let fake: Installation["fake"];
let service: Installation["service"];
let environment: Installation["environment"];
beforeAll(() => void ({ fake, service, environment } = installation()));

/** A reverse proxy before the service that drops these headers of every response. */
async function droppingProxy(dropped: readonly string[]): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((from, to) => {
    const { method, headers, url = "/" } = from;
    const onward = sendRequest(
      service.base + url,
      { ...(method === undefined ? {} : { method }), headers },
      (response) => {
        const passed = Object.entries(response.headers).filter(
          ([name, value]) => value !== undefined && !dropped.includes(name),
        );
        response.pipe(to.writeHead(response.statusCode ?? 502, Object.fromEntries(passed) as Record<string, string>));
      },
    );
    from.pipe(onward);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("reports a proxy that drops response headers and names the headers, and accepts one that drops none [OPS-04]", async () => {
  const behind = async (dropped: readonly string[]): Promise<string[]> => {
    const proxy = await droppingProxy(dropped);
    try {
      // The service gives assistants its own address, and not the proxy's.
      return await faultsOf({ ...environment, BASE_URL: proxy.url, MCP_URL: `${service.app.baseUrl}/mcp` });
    } finally {
      await proxy.stop();
    }
  };
  expect(await behind([])).toEqual([]);
  expect(await behind(["ratelimit-policy"])).toEqual([
    "service.rate_limit_headers: RateLimit-Limit and RateLimit-Policy do not reach clients.",
  ]);
});

test("reports an address that differs from the one that assistants get [OPS-04]", async () => {
  const other = environment["BASE_URL"]?.replace("localhost", "127.0.0.1") ?? "";
  const faults = await faultsOf({ ...environment, BASE_URL: other });
  expect(faults.map((line) => line.split(":")[0])).toEqual(["mcp.challenge", "mcp.resource", "mcp.resource_with_path"]);
});

test("reports a rejected service token, a public address where another server responds, and a public interface that is off [OPS-04]", async () => {
  expect(await faultsOf({ ...environment, SERVICE_TOKENS: "another-token-than-the-one-of-the-service" })).toEqual([
    "service.token: The service rejects the service token.",
  ]);
  expect(await faultsOf({ ...environment, BASE_URL: fake.issuer, MCP_URL: `${service.app.baseUrl}/mcp` })).toEqual([
    expect.stringMatching(/^service\.public: .* returns 404 with application\/json instead of the health/),
  ]);
  await service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", {
    enabled: false,
    reason: "test",
  });
  const off = await runDoctor(environment);
  await service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled: true, reason: "test" });
  expect(findingOf(off, "service.token")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("switched off: the public interface"),
  });
  expect(faultsAmong(off)).toEqual([expect.stringMatching(/^mcp\.challenge: .* returns 503/)]);
  expect(faultsAmong(await runDoctor(environment))).toEqual([]);
});

test("takes a proxy without an instance for a service that does not run, and reports no fault [OPS-04]", async () => {
  for (const status of [502, 503, 504]) {
    const proxy = createServer((_request, response) => void response.writeHead(status).end("<html>")).listen(0, "::1");
    await once(proxy, "listening");
    const url = `http://[::1]:${(proxy.address() as AddressInfo).port}`;
    const found = await runDoctor({ ...environment, BASE_URL: url, INTERNAL_PORT: "1" });
    proxy.close();
    expect([status, findingOf(found, "service.running")]).toMatchObject([
      status,
      { status: "note", message: expect.stringContaining(`nor at ${url}`) },
    ]);
    expect(faultsAmong(found)).toEqual([]);
  }
});

test("removes a secret from any text and from an address [OPS-04]", () => {
  const config = readConfig({
    ...environment,
    MONGODB_URI: "mongodb://someone:p%40ssword@db:27017/records?tlsCertificateKeyFilePassword=hidden",
  });
  const redact = createRedaction(config, "a token of its own");
  expect(redact(`p%40ssword p@ssword ${service.serviceToken} a token of its own, and records`)).toBe(
    "[secret] [secret] [secret] [secret], and records",
  );
  expect(shownUri(config.mongodbUri ?? "")).toBe("mongodb://db:27017/records");
});

test.each(["p/ssword", "p#ssword", "p?ssword", "p@ssword"])(
  "a password %s that is not percent-encoded is shown in no address and no text [OPS-04]",
  (password) => {
    const uri = `mongodb://someone:${password}@db:27017/records`;
    expect(shownUri(uri)).toBe("mongodb://…");
    const redact = createRedaction({ ...readConfig(environment), mongodbUri: uri });
    expect(redact(`not at ${uri}`)).not.toContain("ssword");
  },
);
