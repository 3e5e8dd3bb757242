// Documents, files of pages, and metadata: charged to the address in a bucket of their own, and large ones leave few at a time.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { pipelined, tallied } from "../http/pipelined.ts";
import type { TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";

let service: TestService;
let renderer: string;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: "1", RATE_BURST: "1", TRUST_PROXY: "1" });
  const page = (await service.rest("/docs", { headers: from() })).text;
  renderer = /src="(\/docs\/[^"]+renderer\.js)"/.exec(page)?.[1] ?? "";
  expect(renderer).not.toBe("");
});
afterAll(() => service.stop());

function from(address = randomBytes(4).join(".")): Record<string, string> {
  return { "X-Forwarded-For": address };
}

test("all of them take from one bucket of 100, refilled at 20 a second, whatever the method and whether they are there; RATE_LIMIT does not count [RTE-24]", async () => {
  const headers = from();
  const lines = (): string[] => [`X-Forwarded-For: ${headers["X-Forwarded-For"]}`];
  const began = performance.now();
  const paths = ["/docs", "/openapi.json", "/openapi.yaml", "/llms.txt", "/dashboard.css", "/icon.svg", "/.well-known/oauth-protected-resource", "/docs/nothing", "/openapi.json"];
  const answers = (await Promise.all(paths.map((path) => pipelined(service.base, path, 20, lines)))).flat();
  const most = 101 + 20 * Math.ceil((performance.now() - began) / 1_000);
  const { 200: served = 0, 404: unknown = 0, 429: refused = 0 } = tallied(answers);
  expect(served + unknown + refused).toBe(180);
  expect(served + unknown).toBeGreaterThanOrEqual(100);
  expect(served + unknown).toBeLessThanOrEqual(most);
  for (const { status, headers: sent, body } of answers) {
    expect(sent.get("retry-after")).toBe(status === 429 ? "1" : undefined);
    if (status === 429) expect(JSON.parse(body)).toEqual({ error: { code: "429", message: "Too many requests: try again in 1 second." } });
  }
  for (const [path, method] of [["/docs", "HEAD"], ["/openapi.json", "OPTIONS"], ["/docs", "POST"], [renderer, "GET"]] as const) {
    const told = await Promise.all(Array.from({ length: 30 }, () => service.rest(path, { method, headers })));
    expect(tallied(told)[429], `${method} ${path}`).toBeGreaterThan(0);
  }
  expect((await service.rest("/docs", { headers: from() })).status).toBe(200);
});

test("who has read too many documents may call, and who has called too often may read [RTE-24]", async () => {
  const reader = from();
  await pipelined(service.base, "/openapi.json", 300, () => [`X-Forwarded-For: ${reader["X-Forwarded-For"]}`]);
  expect((await service.rest("/v1/health", { headers: reader })).status).toBe(200);
  const caller = from();
  const calls = await Promise.all(Array.from({ length: 6 }, () => service.rest("/v1/health", { headers: caller })));
  expect(tallied(calls)[429]).toBeGreaterThan(0);
  expect((await service.rest("/llms.txt", { headers: caller })).status).toBe(200);
});

test("a large file leaves a few times at once; whoever comes then waits, and small ones do not [RTE-24]", async () => {
  /** Takes the head of the answer and nothing more. */
  const slow = () => {
    let received = 0;
    const socket = connect(Number(new URL(service.base).port), "127.0.0.1", () => socket.write(`GET ${renderer} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${randomBytes(4).join(".")}\r\n\r\n`));
    socket.on("data", (chunk) => {
      received += chunk.length;
      socket.pause();
    });
    return { socket, begun: () => received > 0 };
  };
  const clients = Array.from({ length: 12 }, slow);
  try {
    await until(() => Promise.resolve(clients.filter(({ begun }) => begun()).length >= 8), AbortSignal.timeout(20_000));
    expect((await service.rest("/docs", { headers: from() })).status).toBe(200);
    expect(clients.filter(({ begun }) => begun())).toHaveLength(8);
    for (const { socket } of clients.filter(({ begun }) => begun())) socket.destroy();
    await until(() => Promise.resolve(clients.every(({ begun }) => begun())), AbortSignal.timeout(20_000));
  } finally {
    for (const { socket } of clients) socket.destroy();
  }
});
