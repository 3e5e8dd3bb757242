// A client's own deadline and its cancellation reach the database's commands on every wire.
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { CommandStartedEvent } from "mongodb";
import { BSON, UUID } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { injectFault, startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import { share } from "../support/form.ts";

vi.setConfig({ testTimeout: 60_000 });

/** Lends its Redis. */
let lender: TestService;
let mongod: OwnMongod;
let service: TestService;
let key: string;
let accountId: string;

beforeAll(async () => {
  [lender, mongod] = await Promise.all([startService(), startOwnMongod()]);
  service = await startInstance(mongod, lender.redis, { RATE_LIMIT: "10000", RATE_BURST: "10000" });
  const account = await service.account();
  [key, accountId] = [account.key, account.id];
});
afterAll(async () => {
  await service.stop();
  await Promise.all([mongod.stop(), lender.stop()]);
});

type TransportOf = (baseUrl: string) => Transport;
const allWires: readonly (readonly [name: string, transport: TransportOf])[] = [
  ["Connect over HTTP/1.1", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["Connect over HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl })],
  ["gRPC-Web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
];
const wires = share(allWires, 2);
/** Does this on every wire at once. */
const onEveryWire = (work: (transport: TransportOf, name: string) => Promise<void>): Promise<unknown> =>
  Promise.all(wires.map(([name, transport]) => work(transport, name)));

/** Sends the deadline as a header only: the client has no timer, so the error comes from the service. */
function contacts(transport: TransportOf, timeout?: string) {
  const client = createClient(ContactService, transport(service.base));
  const headers = {
    authorization: `Bearer ${key}`,
    ...(timeout === undefined ? {} : { "connect-timeout-ms": timeout, "grpc-timeout": `${timeout}m` }),
  };
  return {
    get: (contactId: string, signal?: AbortSignal) =>
      client.getContact({ contactId }, { headers, ...(signal && { signal }) }),
    create: (fullName: string) => client.createContact({ fullName }, { headers }),
  };
}

async function newContact(): Promise<string> {
  const { body } = await service.rest("/v1/contacts", { key, body: { full_name: "Ann" } });
  return body.data.id as string;
}

/** How long a command hangs. A command fails earlier only if the service aborts it. */
const hangsMs = 2_500;
/** Milliseconds that a client gives a call whose command hangs: enough to begin the command on a busy machine. */
const shortDeadline = "800";

/** Makes aggregations hang. Resolves with a function that ends it. */
function hang(): Promise<() => Promise<void>> {
  const data = { failCommands: ["aggregate"], blockConnection: true, blockTimeMS: hangsMs, appName: "records" };
  return injectFault(mongod, "alwaysOn", data);
}

/** Counts the aggregations with this id or text that start and that fail while the work runs. */
async function whileWatching(value: UUID | string, work: (seen: Seen) => Promise<void>): Promise<void> {
  const { client } = service.app;
  const seen: Seen = { started: [], failed: 0 };
  const ids = new Set<number>();
  const text = BSON.EJSON.stringify(value);
  const onStarted = (event: CommandStartedEvent): void => {
    if (event.commandName !== "aggregate" || !BSON.EJSON.stringify(event.command).includes(text)) return;
    seen.started.push(event);
    ids.add(event.requestId);
  };
  const onFailed = ({ requestId }: { requestId: number }): void => void (ids.has(requestId) && seen.failed++);
  client.on("commandStarted", onStarted).on("commandFailed", onFailed);
  try {
    await work(seen);
  } finally {
    client.off("commandStarted", onStarted).off("commandFailed", onFailed);
  }
}
interface Seen {
  readonly started: CommandStartedEvent[];
  failed: number;
}

const failureOf = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(() => expect.fail("it succeeded"), ConnectError.from);
const detailsOf = (error: ConnectError): unknown[] => [error.code, error.findDetails(ErrorInfoSchema)[0]?.reason];
const exceeded = [Code.DeadlineExceeded, "DEADLINE_EXCEEDED"];

/** The tests share the time in which commands hang. Each watches the commands for contacts of its own. */
describe.concurrent("while commands hang", () => {
  const ids = new Map<string, string>();
  const idOf = (name: string): string => ids.get(name) ?? expect.fail(name);
  let newKey: string;
  let endHang: () => Promise<void>;

  beforeAll(async () => {
    for (const [name] of wires)
      for (const what of ["late", "cancelled"]) ids.set(`${what} ${name}`, await newContact());
    for (const what of ["rest", "credential"]) ids.set(what, await newContact());
    await onEveryWire(async (transport) => void (await contacts(transport).get(idOf("rest"))));
    ({ key: newKey } = await service.account());
    endHang = await hang();
  });
  afterAll(() => endHang());

  test("a deadline that passes is deadline_exceeded on every wire, and limits the database's command [OPS-23]", () =>
    onEveryWire(async (transport, name) => {
      const id = idOf(`late ${name}`);
      await whileWatching(new UUID(id), async ({ started }) => {
        expect(detailsOf(await failureOf(contacts(transport, shortDeadline).get(id)))).toEqual(exceeded);
        expect(started.map(({ command }) => command["maxTimeMS"] as number)).toEqual([expect.any(Number)]);
        expect(started[0]?.command["maxTimeMS"]).toBeLessThanOrEqual(Number(shortDeadline));
      });
    }));

  test("a client that cancels ends its command on every wire [OPS-23]", ({ expect }) =>
    onEveryWire(async (transport, name) => {
      const id = idOf(`cancelled ${name}`);
      await whileWatching(new UUID(id), async (seen) => {
        const cancel = new AbortController();
        const call = failureOf(contacts(transport).get(id, cancel.signal));
        await expect.poll(() => seen.started.length, { timeout: 10_000 }).toBe(1);
        expect(seen.failed).toBe(0);
        cancel.abort();
        await call;
        await expect.poll(() => seen.failed, { timeout: 10_000 }).toBe(1);
      });
    }));

  test("a REST client that disconnects ends its read [OPS-23]", async ({ expect }) => {
    const id = idOf("rest");
    await whileWatching(new UUID(id), async (seen) => {
      const session = connectHttp2(service.base);
      const stream = session.request({ ":path": `/v1/contacts/${id}`, authorization: `Bearer ${key}` });
      stream.on("error", () => undefined);
      await expect.poll(() => seen.started.length, { timeout: 10_000 }).toBe(1);
      stream.close(8);
      await expect.poll(() => seen.failed, { timeout: 4_000 }).toBe(1);
      session.close();
    });
  });

  test("a deadline can pass while the credential is looked up [OPS-23]", async () => {
    const headers = { authorization: `Bearer ${newKey}`, "grpc-timeout": "300m" };
    const client = createClient(ContactService, createGrpcTransport({ baseUrl: service.base }));
    expect(detailsOf(await failureOf(client.getContact({ contactId: idOf("credential") }, { headers })))).toEqual(
      exceeded,
    );
  });

  test("a deadline ends a stream [OPS-23]", async () => {
    const headers = { authorization: `Bearer ${service.serviceToken}`, "grpc-timeout": "300m" };
    const client = createClient(IngestService, createGrpcTransport({ baseUrl: service.internal }));
    const all = async (): Promise<void> => {
      for await (const _record of client.export({ accountId }, { headers }));
    };
    expect((await failureOf(all())).code).toBe(Code.DeadlineExceeded);
  });
});

test("a write ends at its deadline on every wire, and nothing is written afterwards [OPS-23, CON-05]", async () => {
  const endHang = await hang();
  let begun = 0;
  try {
    await onEveryWire(async (transport, name) => {
      const fullName = `Late by ${name}`;
      await whileWatching(fullName, async (seen) => {
        expect(detailsOf(await failureOf(contacts(transport, shortDeadline).create(fullName)))).toEqual(exceeded);
        await expect.poll(() => seen.failed).toBe(1);
        begun = performance.now();
      });
    });
  } finally {
    await endHang();
  }
  // The server itself blocks the command until then.
  await sleep(Math.max(0, begun + hangsMs + 200 - performance.now()));
  const countOf = (fullName: string): Promise<number> =>
    service.app.client.db().collection("contacts").countDocuments({ full_name: fullName });
  await onEveryWire(async (transport, name) => {
    await contacts(transport).create(`After late by ${name}`);
    expect([await countOf(`After late by ${name}`), await countOf(`Late by ${name}`)]).toEqual([1, 0]);
  });
});

test("a deadline that does not pass makes no difference on any wire [OPS-23]", async () => {
  const id = await newContact();
  await onEveryWire(async (transport) => {
    for (const timeout of ["4000", "99999999"])
      expect((await contacts(transport, timeout).get(id)).contact?.id).toBe(id);
  });
});

test("a deadline can pass while the message is received [OPS-23]", async () => {
  const [status, text] = await new Promise<[number | undefined, string]>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": "100",
      "connect-timeout-ms": "300",
    };
    const call = httpRequest(
      `${service.base}/records.v1.ContactService/GetContact`,
      { method: "POST", headers },
      (response) => {
        let body = "";
        response
          .setEncoding("utf8")
          .on("data", (piece: string) => (body += piece))
          .on("end", () => resolve([response.statusCode, body]));
      },
    );
    call.on("error", reject);
    call.write("{");
  });
  expect([status, JSON.parse(text)]).toMatchObject([504, { code: "deadline_exceeded" }]);
});

test("a write of a REST client that disconnects is finished [OPS-23]", async () => {
  const block = { failCommands: ["aggregate"], blockConnection: true, blockTimeMS: 700, appName: "records" };
  await withFault(mongod, { times: 1 }, block, async () => {
    const cancel = new AbortController();
    const { commands, stop } = listenToMongo(service.app.client);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ full_name: "Nobody waits" });
    const call = fetch(`${service.base}/v1/contacts`, { method: "POST", headers, body, signal: cancel.signal }).catch(
      () => undefined,
    );
    await expect.poll(() => commands.filter(({ name }) => name === "aggregate").length).toBe(1);
    cancel.abort();
    await call;
    const written = () => service.app.client.db().collection("contacts").countDocuments({ full_name: "Nobody waits" });
    await expect.poll(written, { timeout: 4_000 }).toBe(1);
    stop();
  });
});
