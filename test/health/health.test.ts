// GET /v1/health: what it says of the service, to any caller.
import { createServer, connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { useService } from "../support/client.ts";
import { directUri } from "../fixtures/databases/database.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import { openWires } from "../fixtures/clients/wires.ts";

const service = useService();

async function status(of: TestService): Promise<[number, string]> {
  const response = await of.rest("/v1/health");
  return [response.status, response.body.data.status as string];
}

test("health is 200 with exactly status and version, without a credential and with a wrong one [HLT-01, HLT-02]", async () => {
  for (const headers of [
    {},
    { Authorization: "Bearer rec_wrong" },
    { Authorization: "Basic x" },
    { Authorization: "" },
  ]) {
    const response = await service().rest("/v1/health", { headers });
    expect([response.status, response.text]).toEqual([200, '{"data":{"status":"ok","version":"1.0.0"}}']);
  }
});

test("health has no parameters, so none can be invalid [HLT-01, VAL-10]", async () => {
  for (const query of ["?limit=x", "?%ff", "?a=1&a=2", "?"])
    expect((await service().rest(`/v1/health${query}`)).status, query).toBe(200);
});

test("health reports disabled while the public interface is disabled, on every wire, and is still 200 [HLT-03, HLT-05]", async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  const { wires, close } = openWires(own);
  onTestFinished(close);
  const set = (enabled: boolean) =>
    own.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled, reason: "test" });
  await set(false);
  for (const wire of wires) {
    const { body } = await wire.call({ rpc: "CheckHealth", request: {} });
    expect(body, wire.name).toEqual({ data: { status: "disabled", version: "1.0.0" } });
  }
  expect(await status(own)).toEqual([200, "disabled"]);
  await set(true);
  expect(await status(own)).toEqual([200, "ok"]);
});

test("health reports degraded if Redis cannot be reached, and is still 200 [HLT-03]", async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  expect(await status(own)).toEqual([200, "ok"]);
  await own.redis.stop();
  await vi.waitFor(async () => expect(await status(own)).toEqual([200, "degraded"]), { timeout: 20_000, interval: 50 });
});

test("health reports degraded if MongoDB cannot be reached, is still 200, and reports ok once MongoDB is back [HLT-03]", async () => {
  const gate = await gateTo(Number(new URL(service().mongodbUri).port));
  const { mongodbUri, administratorUri, redis } = service();
  const own = await startInstance(
    { uri: directUri(mongodbUri, `127.0.0.1:${gate.port}`), administratorUri },
    redis,
    {},
  );
  onTestFinished(async () => {
    await own.stop();
    gate.close();
  });
  expect(await status(own)).toEqual([200, "ok"]);
  gate.shut();
  await vi.waitFor(async () => expect(await status(own)).toEqual([200, "degraded"]), { timeout: 20_000, interval: 50 });
  gate.open();
  await vi.waitFor(async () => expect(await status(own)).toEqual([200, "ok"]), { timeout: 20_000, interval: 50 });
});

test("health is 429 over the rate limit, in the envelope [HLT-04]", async () => {
  const own = await startService({ RATE_LIMIT: "1", RATE_BURST: "1" });
  onTestFinished(() => own.stop());
  const responses = await Promise.all(Array.from({ length: 5 }, () => own.rest("/v1/health")));
  expect(new Set(responses.map((response) => response.status))).toEqual(new Set([200, 429]));
  const rejected = responses.find((response) => response.status === 429);
  expect(rejected?.body.error.code).toBe("429");
});

/** A way to a port of this machine that can be shut. */
async function gateTo(target: number): Promise<{ port: number; shut(): void; open(): void; close(): void }> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    if (!isOpen) return void socket.destroy();
    const far = connect(target, "127.0.0.1");
    far.on("error", () => undefined);
    for (const end of [socket, far]) sockets.add(end);
    socket.pipe(far).pipe(socket);
    socket.on("close", () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const destroyAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    shut() {
      isOpen = false;
      destroyAll();
    },
    open() {
      isOpen = true;
    },
    close() {
      destroyAll();
      server.close();
    },
  };
}
