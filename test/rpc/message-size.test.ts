// The size limit of messages: each rpc's proto sets it, and a larger message is rejected early.
import { beforeAll, describe, expect, test } from "vitest";
import { AccountService } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { InterfaceService } from "../../src/gen/records/admin/v1/interface_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { NoteService } from "../../src/gen/records/v1/notes_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { maxMessageBytes } from "../../src/rpc/limits.ts";
import { useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import type { Form, Sent } from "./forms.ts";
import { enveloped, forms, send, written } from "./forms.ts";
import { expectRejected } from "./rejected.ts";

const service = useService();
let owner: Owner;
let key: Sent;
beforeAll(async () => {
  owner = await newOwner(service());
  key = { authorization: `Bearer ${owner.key}` };
});

const { createContact } = ContactService.method;

describe("a message over the limit", () => {
  const tooLarge = [": the message must be at most 262144 bytes"];
  /** A message of `size` bytes, in an envelope if the protocol has one. */
  function ofSize(form: Form, size: number): Buffer {
    const around = written(form, createContact, { fullName: "a".repeat(100_000) }).length - 100_000;
    return enveloped(form, written(form, createContact, { fullName: "a".repeat(size - around) }));
  }

  test("is invalid_argument with the limit, and never resource_exhausted, which clients would retry [VAL-04, WIR-06]", async () => {
    for (const form of forms) {
      for (const size of [256 * 1024 + 1, 256 * 1024 + 7, 4_000_000])
        expectRejected(await send(service().base, form, createContact, ofSize(form, size), key), form, tooLarge);
    }
  });

  test("is rejected while it is still being sent, even over HTTP/1.1 without a length [VAL-04, WIR-06]", async () => {
    const connect = forms.find(({ name }) => name === "connect, json, HTTP/1") as Form;
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x61));
        if (sent > 3_000_000) controller.close();
      },
    });
    const response = await fetch(`${service().base}/records.v1.ContactService/CreateContact`, {
      method: "POST",
      headers: { ...key, "content-type": connect.type },
      body,
      duplex: "half",
    } as RequestInit);
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      400,
      "the message must be at most 262144 bytes",
    ]);
  });

  test("is rejected by the length in its envelope, before it arrives [VAL-04, WIR-06]", async () => {
    for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
      for (const size of [256 * 1024 + 1, 0xffff_ffff]) {
        const body = enveloped(form, Buffer.from("x"));
        body.writeUInt32BE(size, 1);
        expectRejected(await send(service().base, form, createContact, body, key), form, tooLarge);
      }
    }
  });

  test("does not include one of exactly the limit, which is rejected for its content [VAL-04, WIR-06]", async () => {
    for (const form of forms)
      expectRejected(await send(service().base, form, createContact, ofSize(form, 256 * 1024), key), form, [
        "full_name: must be at most 200 characters",
      ]);
  });

  test("is checked by the rpc's proto: a kibibyte for health, and far more for batches of ingest [WIR-06]", async () => {
    const checkHealth = HealthService.method.checkHealth;
    for (const form of forms) {
      const large = form.json
        ? Buffer.from(`{}${" ".repeat(1023)}`)
        : Buffer.concat([Buffer.from([0xfa, 0x7f, 0xfe, 0x07]), Buffer.alloc(1022)]);
      expectRejected(await send(service().base, form, checkHealth, enveloped(form, large), {}), form, [
        ": the message must be at most 1024 bytes",
      ]);
      if (form.json)
        expect(
          (await send(service().base, form, checkHealth, enveloped(form, Buffer.from(`{}${" ".repeat(1022)}`)), {}))
            .code,
          form.name,
        ).toBe("ok");
      const headers = { authorization: `Bearer ${service().serviceToken}` };
      const batch = written(form, IngestService.method.upsertContactNotes, {
        accountId: owner.id,
        notes: [{ contactId: owner.contact, content: "a".repeat(2_000_000) }],
      });
      expect(
        (await send(service().internal, form, IngestService.method.upsertContactNotes, enveloped(form, batch), headers))
          .code,
        form.name,
      ).toBe("ok");
    }
  });
});

test("every rpc has a size limit [WIR-06]", () => {
  const services = [
    HealthService,
    ContactService,
    SessionService,
    NoteService,
    IngestService,
    AccountService,
    InterfaceService,
  ];
  for (const rpc of services.flatMap(({ methods }) => methods))
    expect(maxMessageBytes(rpc), rpc.name).toBeGreaterThan(0);
});
