// The gateway over real connections of both versions: order, statuses, headers, bodies (contract §2.2–§2.9).
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fail } from "../../src/errors.ts";
import { CreateContactResponseSchema, GetContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Behaviour, Received, Running, Version } from "./gateway.ts";
import { answerOf, startGateway } from "./gateway.ts";

const id = "3f2a8c54-0000-4000-8000-000000000001";
const at = { seconds: 1_769_851_800n, nanos: 0 };
const contact = { id, fullName: "Ann Lee", createdAt: at, updatedAt: at };
const created = answerOf(CreateContactResponseSchema, { contact });
const contactBody = `{"data":{"id":"${id}","full_name":"Ann Lee","email":null,"phone":null,"notes":null,"memory":null,"created_at":"2026-01-31T09:30:00.000Z","updated_at":"2026-01-31T09:30:00.000Z","notes_timeline":[],"recent_sessions":[],"inferred_name":null,"archived_at":null}}`;

describe.each<Version>(["HTTP/1.1", "HTTP/2"])("over %s", (version) => {
  let gateway: Running;
  let behaviour: Partial<Behaviour>;

  beforeEach(async () => {
    behaviour = {};
    gateway = await startGateway(version, {
      throttle: () => behaviour.throttle?.() ?? Promise.resolve(),
      admit: (rpc) => behaviour.admit?.(rpc) ?? Promise.resolve(),
      answer: (rpc, message) => behaviour.answer?.(rpc, message) ?? Promise.resolve(answerOf(rpc.output, {})),
    });
  });
  afterEach(() => gateway.close());

  test("a success is data in JSON, not to be stored [FMT-01]", async () => {
    behaviour.answer = async () => answerOf(GetContactResponseSchema, { contact });
    const answer = await gateway.send("GET", `/v1/contacts/${id}`);
    expect(answer).toMatchObject({ status: 200, body: contactBody });
    expect(answer.headers).toMatchObject({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store", "content-length": String(contactBody.length) });
    expect(gateway.steps).toEqual(["admit GetContact", "invoke GetContact"]);
    expect(gateway.messages).toMatchObject([{ contactId: id }]);
  });

  test("HEAD has the headers of GET and no body [FMT-08]", async () => {
    behaviour.answer = async () => answerOf(GetContactResponseSchema, { contact });
    const get = await gateway.send("GET", `/v1/contacts/${id}`);
    const head = await gateway.send("HEAD", `/v1/contacts/${id}`);
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(steady(head)).toEqual(steady(get));
    const refused = await gateway.send("HEAD", "/v1/contacts");
    expect(refused).toMatchObject({ status: 422, body: "" });
    expect(Number(refused.headers["content-length"])).toBeGreaterThan(50);
  });

  test("what was created is 201 with its Location [CCR-02]", async () => {
    behaviour.answer = async () => created;
    const answer = await gateway.send("POST", "/v1/contacts", { body: '{"full_name":"Ann Lee"}' });
    expect(answer).toMatchObject({ status: 201, body: contactBody });
    expect(answer.headers).toMatchObject({ location: `/v1/contacts/${id}` });
    expect(answer.headers["idempotent-replayed"]).toBeUndefined();
  });

  test("a replay is the stored body to the byte, with Location and the mark [IDM-06]", async () => {
    behaviour.answer = async () => ({ ...created, replayed: true, body: '{"data": "as it was sent"}' });
    const answer = await gateway.send("POST", "/v1/contacts", { body: '{"full_name":"Ann Lee"}' });
    expect(answer).toMatchObject({ status: 201, body: '{"data": "as it was sent"}' });
    expect(answer.headers).toMatchObject({ "idempotent-replayed": "true", location: `/v1/contacts/${id}` });
  });

  test("OPTIONS on a known path is 204 with Allow, after the throttle alone [FMT-09]", async () => {
    const answer = await gateway.send("OPTIONS", "/v1/contacts");
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(answer.headers.allow).toBe("GET, HEAD, POST, OPTIONS");
    expect(gateway.steps).toEqual(["throttle"]);
  });

  test.each(["/v1", "/v1/", "/v1/nothing", "/v1/contacts/", "/v1//contacts", "/v1/contacts/../health"])("%s is 404 in the envelope [ERR-05]", async (path) => {
    const answer = await gateway.send("GET", path);
    expect(answer).toMatchObject({ status: 404, body: '{"error":{"code":"404","message":"There is no such path."}}' });
    expect(gateway.steps).toEqual(["throttle"]);
  });

  test("another method is 405 in the envelope with Allow [ERR-06]", async () => {
    const answer = await gateway.send("DELETE", `/v1/contacts/${id}`);
    expect(answer).toMatchObject({ status: 405, body: '{"error":{"code":"405","message":"This path does not take this method."}}' });
    expect(answer.headers.allow).toBe("GET, HEAD, PATCH, OPTIONS");
  });

  test("429 comes before 404 and 405, with Retry-After [ERR-10, RTE-03]", async () => {
    behaviour.throttle = async () => fail(Reason.RATE_LIMITED, { retryAfterSeconds: 3 });
    for (const [method, path] of [["GET", "/v1/nothing"], ["PUT", "/v1/contacts"], ["OPTIONS", "/v1/contacts"]] as const) {
      const answer = await gateway.send(method, path);
      expect(answer.status).toBe(429);
      expect(answer.headers["retry-after"]).toBe("3");
    }
  });

  test("what the guards refuse is refused before the body is asked for [ERR-12, ERR-13]", async () => {
    behaviour.admit = async () => fail(Reason.MISSING_KEY);
    const answer = await gateway.send("POST", "/v1/contacts", { body: "no JSON" });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(gateway.steps).toEqual(["admit CreateContact"]);
  });

  test("Retry-After and WWW-Authenticate go with no other status [RTE-04]", async () => {
    behaviour.admit = async () => fail(Reason.UNAVAILABLE);
    const answer = await gateway.send("GET", `/v1/contacts/${id}`);
    expect(answer).toMatchObject({ status: 503 });
    expect(Object.keys(answer.headers)).not.toContain("retry-after");
    expect(Object.keys(answer.headers)).not.toContain("www-authenticate");
  });

  test("an unexpected failure is 500 without anything of the inside, and is told to the log [ERR-07]", async () => {
    const cause = new Error("mongodb://inside");
    behaviour.answer = async () => Promise.reject(cause);
    const answer = await gateway.send("GET", `/v1/contacts/${id}`);
    expect(answer).toMatchObject({ status: 500, body: '{"error":{"code":"500","message":"Something went wrong on our side."}}' });
    expect(gateway.errors.map((failure) => failure.cause)).toEqual([cause]);
  });

  test("an answer that lacks what its proto promises is 500, and nothing of it is sent", async () => {
    const answer = await gateway.send("GET", "/v1/health");
    expect(answer.status).toBe(500);
    expect(gateway.errors.map((failure) => String(failure.cause))).toEqual(["Error: CheckHealthResponse.health is required and not set"]);
  });

  test("everything that is wrong is told at once, in words and one by one [ERR-02, ERR-03, ERR-04]", async () => {
    const answer = await gateway.send("PATCH", "/v1/contacts/%zz", { body: '{"full_name":5,"email":true,"emial":"x"}' });
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body)).toEqual({
      error: {
        code: "422",
        message: "contact_id: must be percent-encoded UTF-8; full_name: must be a string; email: must be a string; emial: is none of the properties full_name, email, phone",
        details: [
          { field: "contact_id", rule: "encoding", message: "must be percent-encoded UTF-8" },
          { field: "full_name", rule: "type", message: "must be a string" },
          { field: "email", rule: "type", message: "must be a string" },
          { field: "emial", rule: "unknown_property", message: "is none of the properties full_name, email, phone" },
        ],
      },
    });
  });

  test("health takes nothing, so that nothing of it can be wrong [HLT-04]", async () => {
    await gateway.send("GET", "/v1/health?%zz&a=1&a=2");
    expect(gateway.violations).toEqual([[]]);
  });

  test("a body over 256 KiB is 422 in the envelope, announced or not [VAL-04]", async () => {
    const body = "x".repeat(262_145);
    const unannounced = version === "HTTP/1.1" ? { "transfer-encoding": "chunked" } : {};
    for (const headers of [{ "content-length": "262145" }, unannounced]) {
      const answer = await gateway.send("POST", "/v1/contacts", { headers: { "content-type": "application/json", ...headers }, body });
      expect(answer.status).toBe(422);
      expect(answer.body).toContain("the body must be at most 262144 bytes");
    }
    const largest = `{"full_name":"${"x".repeat(262_144 - 16)}"}`;
    await gateway.send("POST", "/v1/contacts", { body: largest });
    expect(gateway.violations.at(-1)).toEqual([]);
  });

  test("a body on GET, HEAD or DELETE is ignored", async () => {
    behaviour.answer = async () => answerOf(GetContactResponseSchema, { contact });
    const answer = await gateway.send("GET", `/v1/contacts/${id}`, { body: "no JSON", headers: { "content-type": "text/plain", "content-length": "7" } });
    expect(answer.status).toBe(200);
  });
});

test("a body over 256 KiB is answered while the client is still sending, and the connection is closed [VAL-04]", async () => {
  const gateway = await startGateway("HTTP/1.1");
  const socket = connect(gateway.port, "127.0.0.1");
  socket.write("POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  let received = "";
  socket.on("data", (data) => (received += data.toString()));
  socket.on("error", () => undefined);
  // It never comes to an end by itself, as a hostile client would.
  const sending = setInterval(() => socket.write(`10000\r\n${"x".repeat(0x10000)}\r\n`), 5);
  await until(() => received.includes("]}}"));
  expect(socket.closed).toBe(false);
  await until(() => socket.closed);
  clearInterval(sending);
  expect(received).toMatch(/^HTTP\/1\.1 422 /);
  expect(received).toMatch(/\r\nConnection: close\r\n/);
  expect(received).toMatch(/the body must be at most 262144 bytes"}\]}}$/);
  await gateway.close();
});

test("over HTTP/2 only the stream is closed, and the connection serves on [VAL-04]", async () => {
  const gateway = await startGateway("HTTP/2");
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  const stream = session.request({ ":method": "POST", ":path": "/v1/contacts", "content-type": "application/json" }, { endStream: false });
  let status = 0;
  stream.on("response", (head) => (status = Number(head[":status"])));
  stream.on("error", () => undefined);
  stream.resume();
  const sending = setInterval(() => stream.writable && stream.write("x".repeat(0x10000)), 5);
  await until(() => stream.closed);
  clearInterval(sending);
  expect(status).toBe(422);
  const next = session.request({ ":method": "GET", ":path": "/v1/nothing" });
  const answered = await new Promise((resolve) => next.on("response", (head) => resolve(head[":status"])));
  expect(answered).toBe(404);
  session.destroy();
  await gateway.close();
});

test.each(["HTTP/1.1", "HTTP/2"] as const)("a client that goes away over %s while it sends leaves nothing behind", async (version) => {
  const gateway = await startGateway(version);
  if (version === "HTTP/1.1") {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.write("POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    await until(() => gateway.steps.length > 0);
    socket.destroy();
  } else {
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    const stream = session.request({ ":method": "POST", ":path": "/v1/contacts", "content-type": "application/json" }, { endStream: false });
    stream.on("error", () => undefined);
    stream.write("{");
    await until(() => gateway.steps.length > 0);
    session.destroy();
  }
  await until(() => gateway.pending() === 0);
  expect(gateway.steps).toEqual(["admit CreateContact"]);
  expect(gateway.errors).toEqual([]);
  await gateway.close();
});

test.each(["HTTP/1.1", "HTTP/2"] as const)("a client that goes away over %s while it is admitted or answered leaves nothing behind", async (version) => {
  for (const step of ["admit", "answer"] as const) {
    let goOn = (): void => undefined;
    const wait = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
    const gateway = await startGateway(version, {
      admit: () => (step === "admit" ? wait() : Promise.resolve()),
      answer: () => wait().then(() => created),
    });
    // The body of a request that is still to be admitted does not come to its end.
    const body = step === "admit" ? "{" : '{"full_name":"Ann"}';
    let leave: () => void;
    if (version === "HTTP/1.1") {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.write(`POST /v1/contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n${body}`);
      leave = () => socket.destroy();
    } else {
      const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
      const stream = session.request({ ":method": "POST", ":path": "/v1/contacts", "content-type": "application/json" }, { endStream: false });
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
});

/** The headers that do not change by themselves. */
function steady({ headers }: Received): unknown {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !["date", "connection", "keep-alive"].includes(name)));
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 500) throw new Error("it did not come about in 5 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
