// What happens to a connection if a client sends too much or disconnects (contract §2.3).
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { CreateContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { createExchange, serve } from "./exchange.ts";
import { responseOf, startGateway } from "./gateway.ts";

const at = { seconds: 1_769_851_800n, nanos: 0 };

test("rejects a body over 256 KiB while the client is still sending, and closes the connection [VAL-04]", async () => {
  const gateway = await startGateway("HTTP/1.1");
  const socket = connect(gateway.port, "127.0.0.1");
  socket.write(
    "POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  let received = "";
  socket.on("data", (data) => (received += data.toString()));
  socket.on("error", () => undefined);
  // It never ends by itself, like a hostile client.
  const sending = setInterval(() => socket.write(`10000\r\n${"x".repeat(0x10000)}\r\n`), 5);
  await until(() => received.includes("]}}"));
  // The connection stays open after the response, so that the client does not lose the response to a reset.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(socket.closed).toBe(false);
  await until(() => socket.closed);
  clearInterval(sending);
  expect(received).toMatch(/^HTTP\/1\.1 422 /);
  expect(received).toMatch(/\r\nConnection: close\r\n/);
  expect(received).toMatch(/the body must be at most 262144 bytes"}\]}}$/);
  await gateway.close();
});

test("a request that is rejected for anything but its size keeps the connection open", async () => {
  const gateway = await startGateway("HTTP/1.1");
  const socket = connect(gateway.port, "127.0.0.1");
  let received = "";
  socket.on("data", (data) => (received += data.toString()));
  for (const request of [
    "GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]",
  ]) {
    socket.write(request);
    await until(() => /\}\}$/.test(received));
    expect(received).toMatch(/^HTTP\/1\.1 4/);
    expect(received).toMatch(/\r\nConnection: keep-alive\r\n/);
    received = "";
  }
  socket.destroy();
  await gateway.close();
});

test("rejects a body that is announced over 256 KiB before any of it is sent [VAL-04]", async () => {
  const gateway = await startGateway("HTTP/1.1");
  const socket = connect(gateway.port, "127.0.0.1");
  socket.write(
    "POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 262145\r\n\r\n",
  );
  const first = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  expect(first).toMatch(/^HTTP\/1\.1 422 /);
  socket.destroy();
  await gateway.close();
});

test("over HTTP/2 a body over 256 KiB closes only its stream, and the connection stays open [VAL-04]", async () => {
  const gateway = await startGateway("HTTP/2");
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  const stream = session.request(
    { ":method": "POST", ":path": "/v1/contacts", "content-type": "application/json" },
    { endStream: false },
  );
  let status = 0;
  stream.on("response", (head) => (status = Number(head[":status"])));
  stream.on("error", () => undefined);
  stream.resume();
  const sending = setInterval(() => stream.writable && stream.write("x".repeat(0x10000)), 5);
  await until(() => stream.closed);
  clearInterval(sending);
  expect(status).toBe(422);
  const next = session.request({ ":method": "GET", ":path": "/v1/nothing" });
  const completed = await new Promise((resolve) => next.on("response", (head) => resolve(head[":status"])));
  expect(completed).toBe(404);
  session.destroy();
  await gateway.close();
});

test.each(["HTTP/1.1", "HTTP/2"] as const)(
  "a client that disconnects over %s while it sends leaves nothing behind",
  async (version) => {
    const gateway = await startGateway(version);
    if (version === "HTTP/1.1") {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.write(
        "POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
      );
      await until(() => gateway.steps.length > 0);
      socket.destroy();
    } else {
      const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
      const stream = session.request(
        { ":method": "POST", ":path": "/v1/contacts", "content-type": "application/json" },
        { endStream: false },
      );
      stream.on("error", () => undefined);
      stream.write("{");
      await until(() => gateway.steps.length > 0);
      // Destroys the connection: an orderly close would end the body first.
      stream.destroy(new Error("gone"));
      session.close();
    }
    await until(() => gateway.pending() === 0);
    expect(gateway.steps).toEqual(["admit CreateContact"]);
    expect(gateway.errors).toEqual([]);
    await gateway.close();
  },
);

test.each(["HTTP/1.1", "HTTP/2"] as const)(
  "a client that disconnects over %s while its request is admitted or served leaves nothing behind",
  async (version) => {
    for (const step of ["admit", "response"] as const) {
      let goOn = (): void => undefined;
      const wait = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
      const gateway = await startGateway(version, {
        admit: () => (step === "admit" ? wait() : Promise.resolve()),
        respond: () =>
          wait().then(() => responseOf(CreateContactResponseSchema, { contact: { createdAt: at, updatedAt: at } })),
      });
      // The body of a request that is still to be admitted does not come to its end.
      const body = step === "admit" ? "{" : '{"full_name":"Ann"}';
      let leave: () => void;
      if (version === "HTTP/1.1") {
        const socket = connect(gateway.port, "127.0.0.1");
        socket.write(
          `POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n${body}`,
        );
        leave = () => socket.destroy();
      } else {
        const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
        const stream = session.request(
          { ":method": "POST", ":path": "/v1/contacts", "content-type": "application/json" },
          { endStream: false },
        );
        stream.on("error", () => undefined);
        if (step === "admit") stream.write(body);
        else stream.end(body);
        leave = () => session.destroy();
      }
      await until(() => gateway.steps.at(-1)?.startsWith(step === "admit" ? "admit" : "invoke") === true);
      leave();
      await new Promise((resolve) => setTimeout(resolve, 30));
      goOn();
      await until(() => gateway.pending() === 0);
      expect(gateway.errors).toEqual([]);
      await gateway.close();
    }
  },
);

test("a read that is reset while it is admitted is not executed: floods of streams that are reset at once cost no more", async () => {
  let goOn = (): void => undefined;
  const gateway = await startGateway("HTTP/2", { admit: () => new Promise((resolve) => (goOn = resolve)) });
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  const stream = session.request({ ":path": "/v1/contacts?query=ann" });
  stream.on("error", () => undefined);
  await until(() => gateway.steps.length > 0);
  stream.close(constants.NGHTTP2_CANCEL);
  await new Promise((resolve) => session.ping(resolve));
  await new Promise((resolve) => setTimeout(resolve, 30));
  goOn();
  await until(() => gateway.pending() === 0);
  expect(gateway.steps).toEqual(["admit SearchContacts"]);
  session.destroy();
  await gateway.close();
});

test("of the requests whose client leaves while they are admitted, a deletion is executed and a read is not", async () => {
  const executed: string[] = [];
  for (const [method, url] of [
    ["GET", "/v1/contacts/1"],
    ["DELETE", "/v1/api-key"],
  ] as const) {
    const exchange = createExchange("HTTP/1.1", { method, url });
    const served = serve(exchange, (rpc) => {
      executed.push(rpc.name);
      return responseOf(rpc.output, {});
    });
    exchange.request.aborted = true;
    await served;
  }
  expect(executed).toEqual(["RevokeApiKey"]);
});

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 500) throw new Error("it did not come about in 5 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
