// Stored records that a wire cannot represent: the failure is reported like any other, on every wire.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { UUID } from "mongodb";
import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Request, Response } from "../../src/call/exchange.ts";
import type { Failure } from "../../src/call/errors.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { inboundOf } from "../../src/http/inbound.ts";
import { createRpcSurface } from "../../src/rpc/connect.ts";
import { lineOf } from "../observability/request-lines.ts";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import type { Form, Reply, Sent } from "./forms.ts";
import { enveloped, forms, get, send, streamForms, written } from "./forms.ts";

const service = useService();
let client: Client;
let sessionId: string;

const somethingWrong =
  "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.";

beforeAll(async () => {
  client = await newClient(service());
  sessionId = await client.put.session({ title: "Walk" });
  await client.put.sessionNotes({
    session_id: sessionId,
    title: "Decisions",
    content: "The trip is on Friday.",
    position: 0,
    type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
  });
  await store({ position: "first" });
});

/** Stores a value in the note that no write accepts. */
async function store(values: Record<string, unknown>): Promise<void> {
  const parent_id = UUID.createFromHexString(sessionId);
  await service().app.client.db().collection("notes").updateOne({ parent_id }, { $set: values });
}

/** The response is INTERNAL without details of the inside, and the log has the cause. */
async function expectReported(id: string, { code, reason, message, bytes }: Reply, where: string): Promise<void> {
  expect([code, reason, message], where).toEqual(["internal", "INTERNAL", somethingWrong]);
  expect(bytes.toString("latin1"), where).not.toMatch(/cannot encode|serialize/);
  expect(await lineOf(id, service()), where).toMatchObject({ code: "internal", cause: "EncodingError" });
  const anError = expect.stringMatching(/Error$/) as string;
  const lines = service().logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(
    lines.filter((line) => line["id"] === id && line["msg"] === "request failed"),
    where,
  ).toMatchObject([{ level: 50, reason: "INTERNAL", err: { type: "EncodingError", cause: { type: anError } } }]);
}

async function callIn<M extends DescMethod>(
  form: Form,
  [base, rpc, message]: readonly [string, M, MessageInitShape<M["input"]>],
  headers: Sent,
): Promise<void> {
  const id = randomUUID();
  const body = enveloped(form, written(form, rpc, message));
  const reply = await send(base, form, rpc, body, { "x-request-id": id, ...headers });
  expect(reply.status, form.name).toBe(form.protocol === "connect" && form.streams === undefined ? 500 : 200);
  await expectReported(id, reply, `${form.name} ${headers["accept-encoding"]}`);
}

const compressed: readonly Sent[] = [
  {},
  { "accept-encoding": "gzip", "grpc-accept-encoding": "gzip", "connect-accept-encoding": "gzip" },
];

test("a response that cannot be encoded is INTERNAL with its reason, and the log has its cause [ERR-07, OPS-26]", async () => {
  const { getSession } = SessionService.method;
  for (const form of forms)
    for (const accepted of compressed)
      await callIn(form, [service().base, getSession, { sessionId }], {
        authorization: `Bearer ${client.key}`,
        ...accepted,
      });
  const id = randomUUID();
  const query = `?connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify({ sessionId }))}`;
  const reply = await get(service().base, getSession, query, {
    authorization: `Bearer ${client.key}`,
    "x-request-id": id,
  });
  await expectReported(id, reply, "GET");
});

test("a message of a stream that cannot be encoded ends it in the same way [ERR-07, OPS-26]", async () => {
  for (const form of streamForms)
    for (const accepted of compressed)
      await callIn(form, [service().internal, IngestService.method.export, { accountId: client.id }], {
        authorization: `Bearer ${service().serviceToken}`,
        ...accepted,
      });
});

test("a stored value of another type is 500 in the envelope over REST, and the log has its cause [ERR-07, OPS-26]", async () => {
  const _id = UUID.createFromHexString(sessionId) as never;
  const sessions = service().app.client.db().collection("sessions");
  await sessions.updateOne({ _id }, { $set: { created_at: "not a date" } });
  const id = randomUUID();
  const { status, body } = await service().rest(`/v1/sessions/${sessionId}`, {
    key: client.key,
    headers: { "X-Request-Id": id },
  });
  expect([status, body]).toEqual([500, { error: { code: "500", message: somethingWrong, reason: "INTERNAL" } }]);
  expect(await lineOf(id, service())).toMatchObject({ status: 500, cause: "TypeError" });
});

test("a result of a service without guards that cannot be encoded is reported too [ERR-07, OPS-26]", async () => {
  const errors: Failure[] = [];
  const { check, watch } = Health.method;
  const unguarded = (router: ConnectRouter): void => {
    router.service(Health, {
      check: () => ({ status: "up" as never }),
      async *watch() {
        yield { status: "up" as never };
      },
    });
  };
  const unused = { throttle: () => Promise.resolve(), admit: () => Promise.reject(new Error("not called")) };
  const surface = createRpcSurface([], unused, (failure) => void errors.push(failure), unguarded);
  const server = createServer((plain, plainResponse) => {
    const [request, response] = [plain as unknown as Request, plainResponse as unknown as Response];
    void surface.handle(request.url ?? "", request, response, inboundOf(request, 0));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [rpc, all] of [
    [check, forms.filter(({ http }) => http === 2)],
    [watch, streamForms],
  ] as const) {
    for (const form of all) {
      const { code, reason, message } = await send(base, form, rpc, enveloped(form, written(form, rpc, {})));
      expect([code, reason, message], `${form.name}, ${rpc.name}`).toEqual(["internal", "INTERNAL", somethingWrong]);
      expect(errors.splice(0).map(({ cause }) => (cause as Error).name)).toEqual(["EncodingError"]);
    }
  }
});
