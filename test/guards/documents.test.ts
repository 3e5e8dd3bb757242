// The throttle of documents and metadata: a bucket for each address, and a slot for each large file.
import { writeFailure } from "../../src/http/response.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createLimits } from "../../src/guards/limits.ts";
import { inboundOf, pathOf } from "../../src/http/inbound.ts";
import { createReference } from "../../src/reference/surface.ts";
import { pipelined, tallied } from "../http/pipelined.ts";
import type { RestCall } from "../fixtures/service/service.ts";
import { from } from "../fixtures/service/from.ts";
import { rest } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";

const service = useService({ RATE_LIMIT: "1", RATE_BURST: "1", TRUST_PROXY: "1" });
let renderer: string;

beforeAll(async () => {
  const page = (await service().rest("/docs", { headers: from() })).text;
  const [, path = ""] = /src="([^"]+renderer\.js)"/.exec(page) ?? [];
  renderer = new URL(path, `${service().base}/docs`).pathname;
  expect(renderer).toMatch(/renderer\.js$/);
});

test("all documents, and unknown paths, share a bucket of 100, refilled at 20 a second, whatever RATE_LIMIT is [RTE-24]", async () => {
  const headers = from();
  const lines = (): string[] => [`X-Forwarded-For: ${headers["X-Forwarded-For"]}`];
  const began = performance.now();
  const paths = [
    "/docs",
    "/guide",
    "/openapi.json",
    "/openapi.yaml",
    "/llms.txt",
    "/dashboard.css",
    "/icon.svg",
    "/.well-known/oauth-protected-resource",
    "/docs/nothing",
    "/openapi.json",
  ];
  const responses = (await Promise.all(paths.map((path) => pipelined(service().base, path, 20, lines)))).flat();
  const most = 101 + 20 * Math.ceil((performance.now() - began) / 1_000);
  const { 200: served = 0, 404: unknown = 0, 429: rejected = 0 } = tallied(responses);
  expect(served + unknown + rejected).toBe(200);
  expect(served + unknown).toBeGreaterThanOrEqual(100);
  expect(served + unknown).toBeLessThanOrEqual(most);
  for (const { status, headers: sent, body } of responses) {
    expect(sent.get("retry-after")).toBe(status === 429 ? "1" : undefined);
    if (status === 429)
      expect(JSON.parse(body)).toEqual({
        error: { code: "429", message: "Too many requests. Try again in 1 second.", reason: "RATE_LIMITED" },
      });
  }
  expect((await service().rest("/docs", { headers: from() })).status).toBe(200);
});

test("a client that has read too many documents can call, and one that has called too often can read [RTE-24]", async () => {
  const reader = from();
  await pipelined(service().base, "/openapi.json", 300, () => [`X-Forwarded-For: ${reader["X-Forwarded-For"]}`]);
  expect((await service().rest("/v1/health", { headers: reader })).status).toBe(200);
  const caller = from();
  const calls = await Promise.all(Array.from({ length: 6 }, () => service().rest("/v1/health", { headers: caller })));
  expect(tallied(calls)[429]).toBeGreaterThan(0);
  expect((await service().rest("/llms.txt", { headers: caller })).status).toBe(200);
});

test("a large file takes a slot while it is sent; a small file, a HEAD and a 304 take none [RTE-24]", async () => {
  const steps: string[] = [];
  const reference = createReference({
    baseUrl: () => "http://localhost",
    throttle: () => Promise.resolve(void steps.push("identify")),
    async sendLarge(send) {
      steps.push("begin");
      await send();
      steps.push("end");
    },
    reject: (_request, response, _inbound, failure) => writeFailure(response, failure),
  });
  const server = createServer(
    (request, response) =>
      void reference
        .handle(pathOf(request), request, response, inboundOf(request, 0))
        .then(() => steps.push("handled")),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const send = async (path: string, call: RestCall = {}): Promise<string[]> => {
    steps.length = 0;
    const { headers } = await rest(`http://127.0.0.1:${port}`, path, call);
    await until(() => Promise.resolve(steps.includes("handled")), AbortSignal.timeout(20_000));
    return [...steps, headers.get("etag") ?? ""];
  };
  try {
    const [, , , , etag = ""] = await send(renderer, { headers: { "Accept-Encoding": "identity" } });
    expect(await send(renderer, { headers: { "Accept-Encoding": "identity" } })).toEqual([
      "identify",
      "begin",
      "end",
      "handled",
      etag,
    ]);
    for (const [path, call] of [
      ["/docs", {}],
      [renderer, { method: "HEAD" }],
      [renderer, { headers: { "Accept-Encoding": "identity", "If-None-Match": etag } }],
      ["/docs/nothing", {}],
    ] as const) {
      expect((await send(path, call)).slice(0, -1), path).toEqual(["identify", "handled"]);
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

const counter = { inc: () => undefined };
const counters = {
  throttleFallbacks: counter,
  throttledFromMemory: counter,
  rejectedLookUps: counter,
  overloaded: counter,
};

test("a client that disconnects while its large file waits takes no slot from the next one [RTE-24]", async () => {
  const { sendLarge } = createLimits(undefined, { rate: 1, burst: 1 }, 1, counters);
  const ends: (() => void)[] = [];
  const from = (network: number) => ({ address: `192.0.2.${network}` });
  const sending = Array.from({ length: 8 }, (_, network) =>
    sendLarge(() => new Promise((resolve) => ends.push(resolve)), from(network)),
  );
  const sent: string[] = [];
  const gone = sendLarge(async () => void sent.push("to the client that left"), {
    ...from(8),
    limits: { cancellation: { requested: true, signal: AbortSignal.abort() } },
  });
  const next = sendLarge(async () => void sent.push("to the next client"), from(9));
  ends[0]?.();
  await expect(gone).rejects.toMatchObject({ reason: Reason.CANCELLED });
  await next;
  expect(sent).toEqual(["to the next client"]);
  for (const end of ends) end();
  await Promise.all(sending);
});
