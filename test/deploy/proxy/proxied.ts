// What holds through a proxy with its example: every wire, the client's address, errors, cancellations, and restarts.
import { request as httpsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { MongoClient, UUID } from "mongodb";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../../src/embedded/port.ts";
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import { grpcStatus } from "../../fixtures/clients/grpc-status.ts";
import { accessToken, expectChallenge, offerIntrospection, rpc, send } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import type { TestAccount, TestService } from "../../fixtures/service/service.ts";
import { rest, startService } from "../../fixtures/service/service.ts";
import type { Proxy, ProxyKind } from "./programs.ts";
import { startProxy } from "./programs.ts";

/** As the service closes when it is stopped by a signal (src/main.ts). */
const idleMs = 2_000;
/** Of some 200 requests, those on their way when a port closes. Without the other instance it would be half of them. */
const maxUnavailable = 6;

/** Declares the tests of one proxy. */
export function proxied(kind: ProxyKind): void {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
  let fake: FakeProvider;
  let first: TestService;
  let second: TestService;
  const all: TestService[] = [];
  let proxy: Proxy;
  let owner: TestAccount;
  let elsewhere: Record<string, string>;

  beforeAll(async () => {
    // The certificate of the test is self-signed.
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    fake = await startFakeProvider();
    offerIntrospection(fake, () => ({ active: true }));
    const [publicPort, internalPort] = [await freePort(), await freePort()];
    proxy = await startProxy(kind, { publicPort, internalPort });
    first = await startService({
      ...fake.settings(),
      BASE_URL: proxy.base,
      PORT: String(publicPort),
      INTERNAL_PORT: String(internalPort),
      TRUST_PROXY: "1",
      RATE_LIMIT: "2",
      RATE_BURST: "40",
    });
    elsewhere = { HOST: "127.0.0.2", INTERNAL_HOST: "127.0.0.2" };
    second = await first.another(elsewhere);
    all.push(first, second);
    owner = await first.account();
    // Until the proxy has seen that both are ready.
    await vi.waitFor(async () => expect((await rest(proxy.base, "/v1/health")).status).toBe(200), {
      timeout: 20_000,
      interval: 200,
    });
  });
  afterAll(async () => {
    await proxy.stop();
    await second.stop();
    await first.stop();
    await fake.stop();
    vi.unstubAllEnvs();
  });

  // A machine without processor time loses the lease on the primary for a while, and no proxy is to blame.
  beforeEach(() =>
    vi.waitFor(
      async () => {
        for (const { base } of [first, second])
          expect((await rest(base, "/v1/contacts?query=ann", { key: owner.key })).status).toBe(200);
      },
      { timeout: 60_000, interval: 1_500 },
    ),
  );
  /** Including those of stopped instances. */
  const logLines = (): Record<string, unknown>[] =>
    all.flatMap(({ logLines }) => logLines.map((line) => JSON.parse(line) as Record<string, unknown>));
  const transports = (base: string): readonly (readonly [name: string, transport: Transport])[] => [
    ["Connect in JSON", createConnectTransport({ baseUrl: base, httpVersion: "1.1", useBinaryFormat: false })],
    ["Connect by GET", createConnectTransport({ baseUrl: base, httpVersion: "1.1", useHttpGet: true })],
    ["Connect over HTTP/2", createConnectTransport({ baseUrl: base, httpVersion: "2" })],
    ["gRPC", createGrpcTransport({ baseUrl: base })],
    ["gRPC-Web", createGrpcWebTransport({ baseUrl: base, httpVersion: "1.1" })],
  ];
  const named = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

  test("REST, Connect, gRPC and gRPC-Web reach the service, and their errors reach the client [OPS-16]", async () => {
    const { status, body } = await rest(proxy.base, "/v1/contacts", { key: owner.key, body: { full_name: "Ann Lee" } });
    expect([status, body.data.full_name]).toEqual([201, "Ann Lee"]);
    for (const [name, transport] of transports(proxy.base)) {
      const client = createClient(ContactService, transport);
      const { contact } = await client.getContact({ contactId: body.data.id }, named(owner.key));
      expect([name, contact?.fullName]).toEqual([name, "Ann Lee"]);
      const missing = await client
        .getContact({ contactId: new UUID().toHexString() }, named(owner.key))
        .catch(ConnectError.from);
      expect([name, (missing as ConnectError).code]).toEqual([name, Code.NotFound]);
    }
    expect((await rest(proxy.base, "/readyz")).status).toBe(404);
    for (const path of ["records.v1.ContactService/MergeContacts", "grpc.health.v1.Health/Check", "foo.Bar/Baz"])
      expect([path, (await grpcStatus(proxy.base, path)).code]).toEqual([path, 12]);
  });

  test("an assistant calls a tool, and without a token gets a pointer to the authorization server", async () => {
    await newOwner(first, fake.issuer, "person-dora", "dora@example.com");
    const { result } = await rpc(proxy.base, await accessToken(fake), "tools/call", {
      name: "search_contacts",
      arguments: { query: "ann" },
    });
    expect(result.isError ?? false).toBe(false);
    expectChallenge(await send(proxy.base, undefined), proxy.base);
  });

  test("the throttle counts the client's own address, whatever addresses it sends", async () => {
    const call = (localAddress: string, forged: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const options = { localAddress, host: "127.0.0.1", port: proxy.port, servername: "localhost", agent: false };
        const headers = { Host: `localhost:${proxy.port}`, "X-Forwarded-For": forged, Connection: "close" };
        httpsRequest({ ...options, path: "/v1/contacts?query=ann", headers }, (response) => {
          response.resume().once("end", () => resolve(response.statusCode ?? 0));
        })
          .once("error", reject)
          .end();
      });
    const statuses: number[] = [];
    for (let at = 0; at < 100 && !statuses.includes(429); at += 10)
      statuses.push(
        ...(await Promise.all(Array.from({ length: 10 }, (_, one) => call("127.0.0.5", `203.0.113.${at + one}`)))),
      );
    expect([...new Set(statuses)].sort()).toEqual([401, 429]);
    // Another client that claims the address of the first.
    expect(await call("127.0.0.6", "127.0.0.5")).toBe(401);
    const seen = new Set(logLines().map(({ address }) => address));
    expect([seen.has("127.0.0.5"), seen.has("127.0.0.6")]).toEqual([true, true]);
    expect([...seen].filter((address) => String(address).startsWith("203.0.113."))).toEqual([]);
  });

  test("the service rejects a body that is too large in its own envelope", async () => {
    const { key } = await first.account();
    for (const path of ["/v1/contacts", "/mcp"]) {
      const body = { full_name: "a".repeat(3_000_000) };
      const direct = await rest(first.base, path, { key, body });
      const through = await rest(proxy.base, path, { key, body });
      expect(direct.status).toBeGreaterThanOrEqual(400);
      expect([through.status, through.body]).toEqual([direct.status, direct.body]);
    }
  });

  test("a client that disconnects ends its request at the service", async () => {
    const { id, key } = await first.account();
    const { body } = await rest(proxy.base, "/v1/contacts", { key, body: { full_name: "Bo Day" } });
    const administrator = await MongoClient.connect(first.administratorUri);
    onTestFinished(() => administrator.close());
    for (const transport of [
      createGrpcTransport({ baseUrl: proxy.base }),
      createConnectTransport({ baseUrl: proxy.base, httpVersion: "1.1" }),
    ]) {
      const left = (): number => logLines().filter(({ status, account }) => status === 499 && account === id).length;
      const before = left();
      const session = administrator.startSession();
      session.startTransaction();
      // An open transaction locks the contact, so that the update waits.
      await administrator
        .db()
        .collection("contacts")
        .updateOne({ full_name: "Bo Day" }, { $set: { locked_by_the_test: true } }, { session });
      const leaving = new AbortController();
      const call = createClient(ContactService, transport).updateContact(
        { contactId: body.data.id, fullName: "Bo Daw" },
        { ...named(key), signal: leaving.signal },
      );
      call.catch(() => undefined);
      await sleep(700);
      leaving.abort();
      await vi.waitFor(() => expect(left()).toBe(before + 1), { timeout: 4_000, interval: 20 });
      await session.abortTransaction();
      await session.endSession();
    }
  });

  test("while one of two instances restarts twice, callers get nothing but a few 503 responses [OPS-16]", async () => {
    const keys = await Promise.all(Array.from({ length: 24 }, async () => (await first.account()).key));
    const grpc = createClient(ContactService, createGrpcTransport({ baseUrl: proxy.base }));
    const outcomes: string[] = [];
    let running = true;
    // The service's own 503, of a machine without time for the lease, has an X-Request-Id; the proxy's has none.
    const ofTheProxy = "503 of the proxy";
    const overRest = async (key: string, path: string, body?: object): Promise<string> => {
      const { status, headers } = await rest(proxy.base, path, { key, body });
      return headers.has("X-Request-Id") ? `${status}` : `${status} of the proxy`;
    };
    const overGrpc = (key: string): Promise<string> =>
      grpc.searchContacts({ query: "ann" }, named(key)).then(
        () => "200",
        (error: unknown) => {
          const { code, metadata } = ConnectError.from(error);
          if (code !== Code.Unavailable) return Code[code];
          return metadata.has("X-Request-Id") ? "503" : ofTheProxy;
        },
      );
    const callers = keys.map(async (key, at) => {
      for (let turn = 0; running; turn++) {
        const sent = [
          () => overGrpc(key),
          () => overRest(key, "/v1/contacts?query=ann"),
          () => overRest(key, "/v1/contacts", { full_name: `Ann ${turn}` }),
        ][(at + turn) % 3];
        outcomes.push(await (sent?.() ?? Promise.resolve("")).catch(String));
        await sleep(600);
      }
    });
    for (let restart = 0; restart < 2; restart++) {
      await sleep(2_000);
      await second.app.stop(idleMs);
      second = await first.another(elsewhere);
      all.push(second);
    }
    await sleep(2_000);
    running = false;
    await Promise.all(callers);
    expect(outcomes.length).toBeGreaterThan(100);
    expect(outcomes.filter((outcome) => !["200", "201", "503", ofTheProxy].includes(outcome))).toEqual([]);
    // A machine without processor time makes MongoDB late, and nothing else is a reason.
    const failed = logLines().filter(({ status, listener }) => status === 503 && listener === "public");
    expect(failed.filter(({ waiting_for: on }) => !/^(mongodb|the primary's lease)/.test(String(on)))).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === ofTheProxy).length).toBeLessThanOrEqual(maxUnavailable);
  });

  errorsOfItsOwn(kind);
}

/** Where no instance responds, the proxy does. */
function errorsOfItsOwn(kind: ProxyKind): void {
  test("without an instance, the proxy responds in the form of each API, never in HTML", async () => {
    const proxy = await startProxy(kind, { publicPort: await freePort(), internalPort: await freePort() });
    onTestFinished(() => proxy.stop());
    const message = "The service cannot respond right now. Try again.";
    // At once: the proxy tries for some seconds to reach an instance.
    const expectEnvelope = async (path: string): Promise<void> => {
      const { status, headers, body } = await rest(proxy.base, path);
      expect([path, status, body]).toEqual([path, 503, { error: { code: "503", message, reason: "UNAVAILABLE" } }]);
      expect(headers.get("Content-Type")).toMatch(/^application\/json/);
      // Only a 429 has it (clients back off by themselves after a 503).
      expect(headers.get("Retry-After")).toBeNull();
    };
    const transports = [
      createConnectTransport({ baseUrl: proxy.base, httpVersion: "1.1", useBinaryFormat: false }),
      createGrpcTransport({ baseUrl: proxy.base }),
    ];
    const expectUnavailable = async (transport: Transport): Promise<void> => {
      const failed = await createClient(ContactService, transport)
        .searchContacts({ query: "ann" })
        .catch(ConnectError.from);
      expect((failed as ConnectError).code).toBe(Code.Unavailable);
    };
    const expectConnectError = async (): Promise<void> => {
      const connect = await rest(proxy.base, "/records.v1.ContactService/SearchContacts", { body: {} });
      expect(connect.body).toEqual({ code: "unavailable", message });
    };
    await Promise.all([
      ...["/v1/contacts", "/mcp", "/"].map(expectEnvelope),
      ...transports.map(expectUnavailable),
      expectConnectError(),
    ]);
  });
}
