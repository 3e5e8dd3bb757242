// gRPC's trailers, which quote the caller, and of which clients accept 8 KiB.
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { beforeAll, describe, expect, test } from "vitest";
import { Failure } from "../../src/call/errors.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { connectError } from "../../src/rpc/connect-error.ts";
import { newClient, useService } from "../support/client.ts";
import type { Reply, Sent } from "./forms.ts";
import { encoding, enveloped, forms, send, written } from "./forms.ts";

const service = useService();
let key: Sent;
beforeAll(async () => {
  key = { authorization: `Bearer ${(await newClient(service())).key}` };
});

const { createContact, updateContact } = ContactService.method;
const { listSessions } = SessionService.method;

describe("trailers within the limit of a client (8 KiB)", () => {
  const long: readonly (readonly [what: string, text: string])[] = [
    ["ASCII", "a".repeat(20_000)],
    ["blanks", " ".repeat(20_000)],
    ["Chinese", "漢".repeat(20_000)],
    ["emoji", "😀".repeat(10_000)],
  ];

  /** The size of the headers and trailers of a response, as HTTP/2 counts it. */
  const sizeOf = ({ headers }: Reply): number =>
    [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);

  test.each(long)(
    "quote %s in a mask, a query, an unknown property, and the name of a service [WIR-06]",
    async (_what, text) => {
      const [inJson] = forms.filter(({ protocol, json }) => protocol === "grpc" && json);
      if (inJson === undefined) throw new Error("gRPC has no form in JSON");
      const contactId = "00000000-0000-4000-8000-000000000000";
      for (const form of forms.filter(({ protocol }) => protocol === "grpc")) {
        const mask = { contactId, updateMask: { paths: [text] } };
        const body = form.json
          ? Buffer.from(JSON.stringify({ contactId, updateMask: text.replaceAll(" ", "_") }))
          : written(form, updateContact, mask);
        for (const [rpc, message] of [
          [updateContact, body],
          [listSessions, written(form, listSessions, { query: text, from: text, to: text, contactId: text })],
        ] as const) {
          const reply = await send(service().base, form, rpc, enveloped(form, message), key);
          expect(reply.code, form.name).toBe("invalid_argument");
          expect(sizeOf(reply), form.name).toBeLessThan(8_192);
        }
      }
      const unknown = await send(
        service().base,
        inJson,
        createContact,
        enveloped(inJson, Buffer.from(JSON.stringify({ [text]: 1 }))),
        key,
      );
      expect([unknown.code, sizeOf(unknown) < 8_192]).toEqual(["invalid_argument", true]);
      const { check } = Health.method;
      const health = await send(
        service().internal,
        inJson,
        check,
        enveloped(inJson, written(inJson, check, { service: text })),
      );
      expect([health.code, health.reason, sizeOf(health) < 8_192]).toEqual(["not_found", "NOT_FOUND", true]);
    },
  );

  test("quote an encoding of any length [WIR-06]", async () => {
    for (const form of forms.filter(({ protocol }) => protocol === "grpc")) {
      const headers = { ...key, ...encoding(form, "x".repeat(12_000)) };
      const message = enveloped(form, written(form, listSessions, {}));
      const reply = await send(service().base, form, listSessions, message, headers);
      expect([reply.code, reply.headers.get("grpc-accept-encoding")]).toEqual(["unimplemented", "gzip"]);
      expect(sizeOf(reply)).toBeLessThan(8_192);
    }
  });

  test("have as many of the violations as fit [WIR-06]", () => {
    for (const [, text] of long) {
      const violations = Array.from({ length: 500 }, (_, at) => ({
        field: `${text}${at}`,
        rule: "string.max_len",
        message: text,
      }));
      const error = connectError(new Failure(Reason.INVALID_REQUEST, { message: text.repeat(20), violations }), "grpc");
      const trailers = setTrailerStatus(new Headers(), error);
      expect([...trailers].reduce((sum, [name, value]) => sum + name.length + value.length, 0)).toBeLessThan(6_700);
    }
  });
});

test("the message of a status is readable as it is, because some clients decode only a part of it, or nothing [WIR-06]", async () => {
  const status = /^grpc-message: (.*)\r$/m;
  for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
    const message = enveloped(form, written(form, createContact, { fullName: "x", email: "a, b: 100%é@" }));
    const invalid = await send(service().base, form, createContact, message, key);
    const noKey = await send(service().base, form, createContact, message);
    const sent = ({ headers, bytes }: Reply): string | undefined =>
      headers.get("grpc-message") ?? status.exec(bytes.toString())?.[1];
    expect([form.name, sent(invalid), sent(noKey)]).toEqual([
      form.name,
      "email: must be an email address such as name@example.com",
      "The API key is missing. Send it as `Authorization: Bearer <API_KEY>`.",
    ]);
    const unknown = enveloped(form, Buffer.from(form.json ? '{"100%\u00e9, a:b":1}' : "\xff", "utf8"));
    const { code, message: decoded } = await send(service().base, form, createContact, unknown, key);
    expect([form.name, code]).toEqual([form.name, "invalid_argument"]);
    if (form.json) expect(decoded).toBe("100%\u00e9, a:b: is not a known property");
  }
  const [grpc] = forms.filter(({ protocol, json }) => protocol === "grpc" && !json);
  if (grpc === undefined) throw new Error("gRPC has no form");
  const body = enveloped(grpc, Buffer.alloc(0));
  const { headers } = await send(service().base, grpc, createContact, body, { ...key, ...encoding(grpc, "br") });
  expect(headers.get("grpc-message")).toBe('unknown compression "br": supported encodings are gzip');
});
