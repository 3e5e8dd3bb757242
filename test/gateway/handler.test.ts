// The gateway over real connections of both versions: order, statuses, headers, bodies (contract §2.2–§2.9).
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deflateText, defineDeflatedField } from "../../src/large/deflated.ts";
import { fail, isForTheLog } from "../../src/call/errors.ts";
import { CreateContactResponseSchema, GetContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { GetSessionTranscriptResponse, Transcript } from "../../src/gen/records/v1/sessions_pb.ts";
import { GetSessionTranscriptResponseSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import type { Inbound, RpcResponse } from "../../src/call/dispatch.ts";
import type { Behaviour, Received, Running, Version } from "./gateway.ts";
import { responseOf, startGateway } from "./gateway.ts";

const id = "3f2a8c54-0000-4000-8000-000000000001";
const at = { seconds: 1_769_851_800n, nanos: 0 };
const contact = { id, fullName: "Ann Lee", createdAt: at, updatedAt: at };
const created = responseOf(CreateContactResponseSchema, { contact });
const limits = { expiresAt: 5_000 };
const contactBody = `{"data":{"id":"${id}","full_name":"Ann Lee","email":null,"phone":null,"notes":null,"memory":null,"created_at":"2026-01-31T09:30:00.000Z","updated_at":"2026-01-31T09:30:00.000Z","notes_timeline":[],"recent_sessions":[],"inferred_name":null,"archived_at":null}}`;

describe.each<Version>(["HTTP/1.1", "HTTP/2"])("over %s", (version) => {
  let gateway: Running;
  let behaviour: Partial<Behaviour>;

  beforeEach(async () => {
    behaviour = {};
    gateway = await startGateway(
      version,
      {
        throttle: () => behaviour.throttle?.() ?? Promise.resolve(),
        admit: (rpc, inbound) => behaviour.admit?.(rpc, inbound) ?? Promise.resolve(),
        respond: (rpc, message) => behaviour.respond?.(rpc, message) ?? Promise.resolve(responseOf(rpc.output, {})),
      },
      { limits },
    );
  });
  afterEach(() => gateway.close());

  test("a success is data in JSON, with no-store [FMT-01]", async () => {
    behaviour.respond = async () => responseOf(GetContactResponseSchema, { contact });
    const response = await gateway.send("GET", `/v1/contacts/${id}`);
    expect(response).toMatchObject({ status: 200, body: contactBody });
    expect(response.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "content-length": String(contactBody.length),
    });
    expect(gateway.steps).toEqual(["admit GetContact", "invoke GetContact"]);
    expect(gateway.messages).toMatchObject([{ contactId: id }]);
  });

  test("HEAD has the headers of GET and no body [FMT-08]", async () => {
    behaviour.respond = async () => responseOf(GetContactResponseSchema, { contact });
    const get = await gateway.send("GET", `/v1/contacts/${id}`);
    const head = await gateway.send("HEAD", `/v1/contacts/${id}`);
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(steady(head)).toEqual(steady(get));
    const rejected = await gateway.send("HEAD", "/v1/contacts");
    expect(rejected).toMatchObject({ status: 422, body: "" });
    expect(Number(rejected.headers["content-length"])).toBeGreaterThan(50);
  });

  test("a created record is 201 with its Location [CCR-02]", async () => {
    behaviour.respond = async () => created;
    const response = await gateway.send("POST", "/v1/contacts", { body: '{"full_name":"Ann Lee"}' });
    expect(response).toMatchObject({ status: 201, body: contactBody });
    expect(response.headers).toMatchObject({ location: `/v1/contacts/${id}` });
    expect(response.headers["idempotent-replayed"]).toBeUndefined();
  });

  test("a replay is the stored body, byte for byte, with Location and the mark of a replay [IDM-06]", async () => {
    behaviour.respond = async () => ({ ...created, replayed: true, body: '{"data": "as it was sent"}' });
    const response = await gateway.send("POST", "/v1/contacts", { body: '{"full_name":"Ann Lee"}' });
    expect(response).toMatchObject({ status: 201, body: '{"data": "as it was sent"}' });
    expect(response.headers).toMatchObject({ "idempotent-replayed": "true", location: `/v1/contacts/${id}` });
  });

  test("OPTIONS on a known path is 204 with Allow, after the throttle alone [FMT-09]", async () => {
    const response = await gateway.send("OPTIONS", "/v1/contacts");
    expect(response).toMatchObject({ status: 204, body: "" });
    expect(response.headers).toMatchObject({ allow: "GET, HEAD, POST, OPTIONS", "cache-control": "no-store" });
    expect(gateway.steps).toEqual(["throttle"]);
  });

  test.each(["/v1", "/v1/", "/v1/nothing", "/v1/contacts/", "/v1//contacts", "/v1/contacts/../health"])(
    "%s is 404 in the envelope [ERR-05]",
    async (path) => {
      const response = await gateway.send("GET", path);
      expect(response).toMatchObject({
        status: 404,
        body: '{"error":{"code":"404","message":"The path does not exist. Check it against the API reference.","reason":"UNKNOWN_PATH"}}',
      });
      expect(gateway.steps).toEqual(["throttle"]);
      expect(gateway.errors.filter(isForTheLog)).toEqual([]);
    },
  );

  test("another method is 405 in the envelope with Allow [ERR-06]", async () => {
    const response = await gateway.send("DELETE", `/v1/contacts/${id}`);
    expect(response).toMatchObject({
      status: 405,
      body: '{"error":{"code":"405","message":"The path does not support this method. Use one of its methods.","reason":"METHOD_NOT_ALLOWED"}}',
    });
    expect(response.headers.allow).toBe("GET, HEAD, PATCH, OPTIONS");
  });

  test("429 comes before 404 and 405, with Retry-After [ERR-10, RTE-03]", async () => {
    behaviour.throttle = async () => fail(Reason.RATE_LIMITED, { retryAfterSeconds: 3 });
    for (const [method, path] of [
      ["GET", "/v1/nothing"],
      ["PUT", "/v1/contacts"],
      ["OPTIONS", "/v1/contacts"],
    ] as const) {
      const response = await gateway.send(method, path);
      expect(response.status).toBe(429);
      expect(response.headers["retry-after"]).toBe("3");
    }
  });

  test("rejects what the guards reject before it reads the body [ERR-12, ERR-13]", async () => {
    behaviour.admit = async () => fail(Reason.MISSING_KEY);
    const response = await gateway.send("POST", "/v1/contacts", { body: "no JSON" });
    expect(response.status).toBe(401);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
    expect(gateway.steps).toEqual(["admit CreateContact"]);
  });

  test("a read ends with its caller, and a write does not", async () => {
    const admitted: Inbound[] = [];
    behaviour.admit = async (_rpc, inbound) => void admitted.push(inbound);
    await gateway.send("GET", `/v1/contacts/${id}`);
    await gateway.send("HEAD", `/v1/contacts/${id}`);
    await gateway.send("POST", "/v1/contacts", { body: '{"full_name":"Ann Lee"}' });
    await gateway.send("PATCH", `/v1/contacts/${id}`, { body: '{"full_name":"Ann Lee"}' });
    expect(admitted.map((inbound) => inbound.limits)).toEqual([limits, limits, undefined, undefined]);
    for (const inbound of admitted) expect(inbound).toMatchObject({ address: "127.0.0.1", requestId: "r1" });
  });

  test("no other status has Retry-After or WWW-Authenticate [RTE-04]", async () => {
    behaviour.admit = async () => fail(Reason.UNAVAILABLE);
    const response = await gateway.send("GET", `/v1/contacts/${id}`);
    expect(response).toMatchObject({ status: 503 });
    expect(Object.keys(response.headers)).not.toContain("retry-after");
    expect(Object.keys(response.headers)).not.toContain("www-authenticate");
  });

  test("a 429 without a known wait says to wait a second [RTE-03]", async () => {
    behaviour.admit = async () => fail(Reason.RATE_LIMITED);
    expect((await gateway.send("GET", `/v1/contacts/${id}`)).headers["retry-after"]).toBe("1");
  });

  test("the log gets the route and the rpc, if they exist", async () => {
    await gateway.send("GET", "/v1/nothing");
    expect(gateway.observation).toEqual({});
    await gateway.send("DELETE", `/v1/contacts/${id}?a=b`);
    expect(gateway.observation).toEqual({ route: "/v1/contacts/{contact_id}" });
    await gateway.send("GET", "/v1/contacts?query=ann");
    expect(gateway.observation).toEqual({ route: "/v1/contacts", rpc: "records.v1.ContactService/SearchContacts" });
    expect(gateway.messages).toMatchObject([{ query: "ann" }]);
  });

  test("sends a stored text compressed to a client that accepts gzip, and the same text uncompressed to others", async () => {
    const transcript = async (): Promise<RpcResponse> => {
      const { message } = responseOf(GetSessionTranscriptResponseSchema, { transcript: { sessionId: id } });
      defineDeflatedField(
        (message as GetSessionTranscriptResponse).transcript as Transcript,
        "transcript",
        await deflateText("[00:12] Zoë"),
      );
      return { message, replayed: false, body: undefined };
    };
    behaviour.respond = transcript;
    const path = `/v1/sessions/${id}/transcript`;
    const plain = await gateway.send("GET", path);
    expect(JSON.parse(plain.body)).toMatchObject({ data: { session_id: id, transcript: "[00:12] Zoë" } });
    expect(plain.headers).toMatchObject({
      vary: "Accept-Encoding",
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
    });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const gzipped = await gateway.send("GET", path, {
      headers: { "accept-encoding": "gzip", origin: "https://records.example" },
    });
    expect(gzipped.headers).toMatchObject({
      vary: "Origin, Accept-Encoding",
      "content-encoding": "gzip",
      "content-length": String(gzipped.bytes.length),
      "content-type": "application/json; charset=utf-8",
    });
    expect(gunzipSync(gzipped.bytes).toString()).toBe(plain.body);
    behaviour.respond = async () => responseOf(GetSessionTranscriptResponseSchema, { transcript: { sessionId: id } });
    const none = await gateway.send("GET", path, { headers: { "accept-encoding": "gzip" } });
    expect([none.headers["vary"], none.headers["content-encoding"]]).toEqual([undefined, undefined]);
  });

  test("an unexpected failure is 500 without internal details, and is logged [ERR-07]", async () => {
    const cause = new Error("mongodb://inside");
    behaviour.respond = async () => Promise.reject(cause);
    const response = await gateway.send("GET", `/v1/contacts/${id}`);
    expect(response).toMatchObject({
      status: 500,
      body: '{"error":{"code":"500","message":"Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.","reason":"INTERNAL"}}',
    });
    expect(gateway.errors.map((failure) => failure.cause)).toEqual([cause]);
  });

  test("a response that lacks a required field of its proto is 500, and nothing of it is sent", async () => {
    const response = await gateway.send("GET", "/v1/health");
    expect(response.status).toBe(500);
    expect(gateway.errors.map((failure) => String(failure.cause))).toEqual([
      "Error: CheckHealthResponse.health is required and not set",
    ]);
  });

  test("reports all violations at once, in the message and one by one [ERR-02, ERR-03, ERR-04]", async () => {
    const response = await gateway.send("PATCH", "/v1/contacts/%zz", {
      body: '{"full_name":5,"email":true,"emial":"x"}',
    });
    expect(response.status).toBe(422);
    expect(JSON.parse(response.body)).toEqual({
      error: {
        code: "422",
        message:
          "contact_id: must be percent-encoded UTF-8; full_name: must be a string; email: must be a string; emial: is not a known property. Use full_name, email or phone",
        reason: "INVALID_REQUEST",
        details: [
          { field: "contact_id", rule: "encoding", message: "must be percent-encoded UTF-8" },
          { field: "full_name", rule: "type", message: "must be a string" },
          { field: "email", rule: "type", message: "must be a string" },
          {
            field: "emial",
            rule: "unknown_property",
            message: "is not a known property. Use full_name, email or phone",
          },
        ],
      },
    });
  });

  test("health has no parameters, so none can be invalid [HLT-04]", async () => {
    await gateway.send("GET", "/v1/health?%zz&a=1&a=2");
    expect(gateway.violations).toEqual([[]]);
  });

  test("a body over 256 KiB is 422 in the envelope, announced or not [VAL-04]", async () => {
    const body = "x".repeat(262_145);
    const unannounced = version === "HTTP/1.1" ? { "transfer-encoding": "chunked" } : {};
    for (const headers of [{ "content-length": "262145" }, unannounced]) {
      const response = await gateway.send("POST", "/v1/contacts", {
        headers: { "content-type": "application/json", ...headers },
        body,
      });
      expect(response.status).toBe(422);
      expect(response.body).toContain("the body must be at most 262144 bytes");
    }
    const largest = `{"full_name":"${"x".repeat(262_144 - 16)}"}`;
    await gateway.send("POST", "/v1/contacts", { body: largest });
    expect(gateway.violations.at(-1)).toEqual([]);
  });

  test("ignores a body on GET, HEAD or DELETE", async () => {
    behaviour.respond = async () => responseOf(GetContactResponseSchema, { contact });
    const response = await gateway.send("GET", `/v1/contacts/${id}`, {
      body: "no JSON",
      headers: { "content-type": "text/plain", "content-length": "7" },
    });
    expect(response.status).toBe(200);
  });
});

/** The headers that do not change by themselves. */
function steady({ headers }: Received): unknown {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
  );
}
