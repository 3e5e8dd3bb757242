// Streams on the wire: the order of their errors, the codes of unreadable messages, and the accepted timeouts.
import { randomUUID } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { lineOf } from "../observability/request-lines.ts";
import { newClient, useService } from "../support/client.ts";
import type { Client } from "../support/client.ts";
import type { Form, Reply, Sent } from "./forms.ts";
import { encoding, enveloped, forms, send, streamForms, written } from "./forms.ts";

const service = useService();
let client: Client;
beforeAll(async () => {
  client = await newClient(service());
  await client.put.contacts({ full_name: "Ann" });
});

const { import: importRpc, export: exportRpc, upsertContacts } = IngestService.method;
const jsonForms = streamForms.filter(({ json }) => json);

const token = (): Sent => ({ authorization: `Bearer ${service().serviceToken}` });
const text = (form: Form, json: string, flags = 0): Buffer => enveloped(form, Buffer.from(json), flags);
const account = (): string => JSON.stringify({ accountId: client.id });

/** Sends a body to an rpc, and returns the response with the line that the log has of it. */
async function call(
  form: Form,
  rpc: DescMethod,
  body: Uint8Array,
  headers: Sent = token(),
): Promise<Reply & { logged: readonly unknown[] }> {
  const id = randomUUID();
  const reply = await send(service().internal, form, rpc, body, { "x-request-id": id, ...headers });
  const line = await lineOf(id, service());
  return { ...reply, logged: [line["status"], line["code"]] };
}

/** The head of a message that is larger than any may be. */
const declared = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 0x7b]);

test("a stream without a token is unauthenticated, whatever its message [ADM-01, ERR-12]", async () => {
  for (const form of streamForms) {
    for (const rpc of [importRpc, exportRpc]) {
      for (const [what, body] of [
        ["an account", enveloped(form, written(form, rpc, { accountId: client.id }))],
        ["an unknown field", text(form, '{"x":1}')],
        ["too large", declared],
        ["none", Buffer.alloc(0)],
      ] as const) {
        const { status, code, reason, logged } = await call(form, rpc, body, {});
        const where = `${form.name}, ${rpc.name}, ${what}`;
        expect([status, code, reason], where).toEqual([200, "unauthenticated", "INVALID_SERVICE_TOKEN"]);
        expect(logged, where).toEqual([200, "unauthenticated"]);
      }
    }
  }
});

describe.each([
  ["an unknown field", (form: Form) => text(form, '{"x":1}'), "x: is not a known property"],
  ["no JSON", (form: Form) => text(form, "{"), ": the message is malformed: "],
  ["a size over the limit", () => declared, ": the message must be at most "],
] as const)("a message with %s", (_what, body, words) => {
  test("is invalid_argument with details on a stream as on a unary call, and is logged as a failure [WIR-06, OPS-25]", async () => {
    for (const form of jsonForms) {
      for (const rpc of [importRpc, exportRpc]) {
        const { code, reason, message, violations, logged } = await call(form, rpc, body(form));
        const where = `${form.name}, ${rpc.name}`;
        expect([code, reason, violations], where).toEqual([
          "invalid_argument",
          "INVALID_REQUEST",
          [expect.any(String)],
        ]);
        expect(violations[0]?.replace(/^: /, ""), where).toBe(message);
        expect(violations[0], where).toContain(words);
        expect(logged, where).toEqual([200, "invalid_argument"]);
      }
    }
    for (const form of forms.filter(({ json, http, protocol }) => json && http === 2 && protocol !== "connect")) {
      const { code, reason, violations } = await call(form, upsertContacts, body(form));
      expect([code, reason], form.name).toEqual(["invalid_argument", "INVALID_REQUEST"]);
      expect(violations[0], form.name).toContain(words);
    }
  });
});

test("a later message that cannot be read ends the import in the same way [WIR-06, ING-06]", async () => {
  for (const form of jsonForms) {
    const { code, reason, logged } = await call(
      form,
      importRpc,
      Buffer.concat([text(form, account()), text(form, "{")]),
    );
    expect([code, reason, ...logged], form.name).toEqual([
      "invalid_argument",
      "INVALID_REQUEST",
      200,
      "invalid_argument",
    ]);
  }
});

test("an unknown encoding is unimplemented, and the response lists the known ones; the log and the metrics have a failure [WIR-06, OPS-25]", async () => {
  for (const form of jsonForms) {
    const name = form.protocol === "connect" ? "connect-content-encoding" : "grpc-encoding";
    const { code, logged } = await call(form, exportRpc, text(form, account()), { ...token(), [name]: "br" });
    expect([code, ...logged], form.name).toEqual(["unimplemented", 200, "unimplemented"]);
  }
  const [web] = forms.filter(({ name }) => name === "grpc-web, json, HTTP/2");
  if (web === undefined) throw new Error("gRPC-Web has no form");
  const unary = await call(web, upsertContacts, text(web, "{}"), { ...token(), ...encoding(web, "br") });
  expect([unary.code, ...unary.logged]).toEqual(["unimplemented", 200, "unimplemented"]);
  const metrics = await (await fetch(`${service().internal}/metrics`)).text();
  for (const [wire, rpc] of [
    ["grpc", "Export"],
    ["grpc-web", "UpsertContacts"],
  ])
    expect(metrics).toMatch(
      new RegExp(
        `^records_request_duration_seconds_count\\{.*wire="${wire}".*IngestService/${rpc}",status="415"\\} [1-9]`,
        "m",
      ),
    );
});

test("a flag of an envelope that no message may have is internal, also in a later one, and counts as the client's fault [WIR-06, OPS-25]", async () => {
  for (const form of streamForms) {
    const first = enveloped(form, written(form, importRpc, { accountId: client.id }));
    for (const flags of [1, 2, 0x80]) {
      const body = Buffer.concat([first, enveloped(form, written(form, importRpc, {}), flags)]);
      const { code, logged } = await call(form, importRpc, body);
      expect([form.name, flags, code, ...logged]).toEqual([form.name, flags, "internal", 200, "internal"]);
    }
  }
  const metrics = await (await fetch(`${service().internal}/metrics`)).text();
  expect(metrics).toMatch(/^records_request_duration_seconds_count\{.*IngestService\/Import",status="400"\} [1-9]/m);
});

test("an exceeded deadline has its reason, also on a stream that watches [OPS-23, ERR-12]", async () => {
  for (const form of jsonForms) {
    const passed = { ...token(), "grpc-timeout": "1n", "connect-timeout-ms": "0" };
    for (const [rpc, body] of [
      [exportRpc, account()],
      [importRpc, account()],
      [Health.method.watch, "{}"],
    ] as const) {
      const { code, reason } = await send(service().internal, form, rpc, text(form, body), passed);
      expect([code, reason], `${form.name}, ${rpc.name}`).toEqual(["deadline_exceeded", "DEADLINE_EXCEEDED"]);
    }
  }
});

describe("a timeout that exceeds the longest timer", () => {
  const long: Sent = { "grpc-timeout": "720H", "connect-timeout-ms": "2592000000" };

  test("limits no stream and no unary call [OPS-23, ING-06, ING-07]", async () => {
    for (const form of streamForms) {
      for (const rpc of [importRpc, exportRpc]) {
        const message = enveloped(form, written(form, rpc, { accountId: client.id }));
        expect((await call(form, rpc, message, { ...token(), ...long })).code, `${form.name}, ${rpc.name}`).toBe("ok");
      }
    }
    for (const form of forms) {
      const { getContact } = ContactService.method;
      const contactId = randomUUID();
      const message = enveloped(form, written(form, getContact, { contactId }));
      const key = { authorization: `Bearer ${client.key}` };
      expect((await send(service().base, form, getContact, message, { ...key, ...long })).code, form.name).toBe(
        "not_found",
      );
    }
  });
});
