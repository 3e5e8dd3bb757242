// The bound on requests in flight: a burst waits in a queue; a full queue rejects requests.
import { connect } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, expect, test } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { until } from "../../src/embedded/wait.ts";
import { pipelined, tallied } from "../http/pipelined.ts";
import type { RawResponse } from "../fixtures/clients/raw.ts";
import { useService } from "../support/client.ts";

/** One request at a time. */
const service = useService({ MAX_IN_FLIGHT: "1" });
let key: string;

beforeAll(async () => {
  ({ key } = await service().account());
});

/** Far more requests than the bound and the queue hold: some are served while others arrive. */
const crowd = 640;
/** Of one connection only so many are begun at once. */
const connections = 40;
const crowded = async (path: string, lines?: () => string[]): Promise<RawResponse[]> =>
  (
    await Promise.all(
      Array.from({ length: connections }, () => pipelined(service().base, path, crowd / connections, lines)),
    )
  ).flat();
const withKey = (): string[] => [`Authorization: Bearer ${key}`];

test("over the bound REST gets 503 in the envelope with the common headers, without Retry-After; the others are served [RTE-04, RTE-05, RTE-22]", async () => {
  const responses = await crowded("/v1/contacts?query=ann", withKey);
  // On a busy machine some start and miss their deadline.
  const rejected = responses.filter(({ status, body }) => status === 503 && !body.includes("in time"));
  expect(rejected.length).toBeGreaterThan(0);
  expect(Object.keys(tallied(responses))).toEqual(["200", "503"]);
  for (const { headers, body } of rejected) {
    expect(JSON.parse(body)).toEqual({
      error: { code: "503", message: "The service is handling too many requests. Try again.", reason: "UNAVAILABLE" },
    });
    expect([headers.get("retry-after"), headers.get("ratelimit-limit")]).toEqual([undefined, "100000"]);
    expect(headers.get("x-request-id")).toMatch(/./);
  }
  const metrics = await (await fetch(`${service().internal}/metrics`)).text();
  expect(metrics).toContain(`\nrecords_overloaded_total ${rejected.length}\n`);
});

test("over the bound gRPC gets UNAVAILABLE, and is served again after the burst [WIR-08, RTE-22]", async () => {
  const clients = Array.from({ length: 4 }, () =>
    createClient(ContactService, createGrpcTransport({ baseUrl: service().base })),
  );
  const call = (turn: number): Promise<string> =>
    (clients[turn % clients.length] as (typeof clients)[number])
      .searchContacts({ query: "ann" }, { headers: { authorization: `Bearer ${key}` } })
      .then(
        () => "ok",
        (error: unknown) => Code[ConnectError.from(error).code],
      );
  await Promise.all(clients.map((_, turn) => call(turn)));
  const outcomes = new Set(await Promise.all(Array.from({ length: crowd }, (_, turn) => call(turn))));
  expect([...outcomes].filter((outcome) => outcome !== "ok")).toEqual(["Unavailable"]);
  expect(await call(0)).toBe("ok");
});

test("serves health, however its path is escaped and however many requests are over the bound [HLT-01, HLT-04]", async () => {
  for (const path of ["/v1/health", "/v1/%68ealth"]) {
    const [healthy] = await Promise.all([crowded(path), crowded("/v1/contacts?query=ann", withKey)]);
    expect(Object.keys(tallied(healthy))).toEqual(["200"]);
  }
});

test("the internal listener has no bound [RTE-17]", async () => {
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => service().internalCall("records.admin.v1.AccountService/ListAccounts", {})),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
});

test("a request takes no slot while its body arrives", async () => {
  const body = JSON.stringify({ full_name: "Slow" });
  const head = `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(Number(new URL(service().base).port), "127.0.0.1", () => socket.write(head));
  let received = "";
  // 100 Continue: the head was accepted, and its credential is looked up.
  await new Promise<void>((resolve) =>
    socket.on("data", (chunk: Buffer) => void ((received += chunk.toString()), resolve())),
  );
  await until(
    async () => (await service().rest("/v1/contacts?query=ann", { key })).status === 200,
    AbortSignal.timeout(20_000),
  );
  for (let turn = 0; turn < 5; turn++)
    expect((await service().rest("/v1/contacts?query=ann", { key })).status).toBe(200);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(body);
  await closed;
  expect(received).toContain("HTTP/1.1 201 Created");
});
