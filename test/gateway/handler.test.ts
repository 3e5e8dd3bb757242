// What the gateway does at its edges, over real connections of both versions (contract §2.2–§2.9).
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deflateText, defineDeflatedField } from "../../src/large/deflated.ts";
import { fail } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { GetSessionTranscriptResponse, Transcript } from "../../src/gen/records/v1/sessions_pb.ts";
import { GetSessionTranscriptResponseSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import type { Inbound, RpcResponse } from "../../src/call/dispatch.ts";
import type { Behaviour, Running, Version } from "./gateway.ts";
import { responseOf, startGateway } from "./gateway.ts";

const id = "3f2a8c54-0000-4000-8000-000000000001";
const limits = { expiresAt: 5_000 };

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
        headViolations: (fields) => behaviour.headViolations?.(fields) ?? [],
        respond: (rpc, message) => behaviour.respond?.(rpc, message) ?? Promise.resolve(responseOf(rpc.output, {})),
      },
      { limits },
    );
  });
  afterEach(() => gateway.close());

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

  test("a body that the client holds back is requested only if nothing else is wrong [ERR-12]", async () => {
    const held = { headers: { expect: "100-continue" }, body: '{"full_name":"Ann Lee"}' };
    const asked: (readonly string[])[] = [];
    const wrong = { field: "contact_id", rule: "string.uuid", message: "must be a UUID" };
    behaviour.headViolations = (fields) => {
      asked.push(fields);
      return fields.length > 0 ? [wrong] : [];
    };
    const malformed = await gateway.send("PATCH", "/v1/contacts/%zz", held);
    expect([malformed.status, malformed.body]).toEqual([422, expect.stringContaining("percent-encoded")]);
    const rejected = await gateway.send("PATCH", "/v1/contacts/x", held);
    expect(JSON.parse(rejected.body)).toMatchObject({ error: { code: "422", details: [wrong] } });
    expect(asked).toEqual([[], ["contact_id"]]);
    expect(gateway.steps).toEqual(["admit UpdateContact", "admit UpdateContact"]);
    behaviour.headViolations = () => [];
    await gateway.send("PATCH", `/v1/contacts/${id}`, held);
    expect(gateway.steps.slice(2)).toEqual(["admit UpdateContact", "continue", "invoke UpdateContact"]);
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
});
