// Compressed messages: read where they are gzip, and rejected where they are cut off, unknown or too large.
import { gunzipSync, gzipSync } from "node:zlib";
import { UUID } from "mongodb";
import { beforeAll, describe, expect, test } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { routerOptions } from "../../src/rpc/router-options.ts";
import { counts, newClient, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import type { Reply, Sent } from "./forms.ts";
import { encoding, enveloped, forms, send, written } from "./forms.ts";
import { expectRejected, expectUnreadable } from "./rejected.ts";

const service = useService();
let owner: Owner;
let key: Sent;
beforeAll(async () => {
  owner = await newOwner(service());
  key = { authorization: `Bearer ${owner.key}` };
});

const { createContact, getContact } = ContactService.method;
const maxBytes = 262_144;
/** Field 15, a number, again and again. */
const unknownFields = Buffer.alloc(262_000, Buffer.from([0x78, 0x01]));

test("decodes each large message in its own turn of the event loop, however small it was when sent [OPS-72]", async () => {
  const [gzip] = routerOptions(maxBytes).acceptCompression ?? [];
  const decodedIn: number[] = [];
  let turn = 0;
  let running = true;
  const count = (): void => {
    turn += 1;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  const message = gzipSync(unknownFields);
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      expect((await gzip?.decompress(message, maxBytes))?.length).toBe(unknownFields.length);
      decodedIn.push(turn);
    }),
  );
  running = false;
  expect(new Set(decodedIn).size).toBe(20);
});

test("reads a message with a hundred thousand unknown fields, and keeps none of them [WIR-01]", async () => {
  expect(routerOptions(maxBytes).binaryOptions).toEqual({ readUnknownFields: false });
  for (const form of forms.filter((one) => !one.json)) {
    const message = Buffer.concat([written(form, getContact, { contactId: owner.contact }), unknownFields]);
    const response = await send(service().base, form, getContact, enveloped(form, gzipSync(message), 1), {
      ...key,
      ...encoding(form, "gzip"),
    });
    expect([form.name, response.code]).toEqual([form.name, "ok"]);
  }
});

test.each([
  ["GZIP", true],
  ["X-Gzip", true],
  ["Identity", false],
  ["", false],
])("reads the content coding %j of Connect like any spelling of it [WIR-01]", async (coding, isGzip) => {
  for (const form of forms.filter(({ protocol }) => protocol === "connect")) {
    const message = written(form, getContact, { contactId: owner.contact });
    const headers = { ...key, "content-encoding": coding };
    const response = await send(service().base, form, getContact, isGzip ? gzipSync(message) : message, headers);
    expect([form.name, response.code]).toEqual([form.name, "ok"]);
  }
});

test("rejects JSON in gzip that is not UTF-8 [VAL-12]", async () => {
  const broken = gzipSync(Buffer.from('{"full_name":"\xff"}', "latin1"));
  for (const form of forms.filter((one) => one.json)) {
    expectUnreadable(
      await send(service().base, form, createContact, enveloped(form, broken, 1), {
        ...key,
        ...encoding(form, "gzip"),
      }),
      form,
      "the message must be UTF-8",
    );
  }
});

test("compresses a response of a kilobyte or more for a client that accepts gzip, and no other [WIR-01]", async () => {
  const client = await newClient(service());
  for (let count = 0; count < 20; count++) await client.put.contact({ full_name: `Ann Lee ${count}` });
  const { searchContacts } = ContactService.method;
  for (const form of forms.filter(({ protocol }) => protocol === "grpc")) {
    const found = (query: string, headers: Sent): Promise<Reply> =>
      send(service().base, form, searchContacts, enveloped(form, written(form, searchContacts, { query })), {
        authorization: `Bearer ${client.key}`,
        ...headers,
      });
    const accepted = { "grpc-accept-encoding": "identity,deflate,gzip" };
    const [whole, gzipped, small] = [
      await found("ann", {}),
      await found("ann", accepted),
      await found("none", accepted),
    ];
    expect([form.name, whole.bytes[0], gzipped.bytes[0], small.bytes[0]]).toEqual([form.name, 0, 1, 0]);
    expect(gzipped.headers.get("grpc-encoding")).toBe("gzip");
    expect(gunzipSync(gzipped.bytes.subarray(5))).toEqual(whole.bytes.subarray(5));
  }
});

describe("a compressed message", () => {
  test("is accepted as gzip, and if it declares itself uncompressed [WIR-01]", async () => {
    for (const form of forms) {
      const message = written(form, getContact, { contactId: owner.contact });
      const gzipped = await send(service().base, form, getContact, enveloped(form, gzipSync(message), 1), {
        ...key,
        ...encoding(form, "gzip"),
      });
      expect([form.name, gzipped.code]).toEqual([form.name, "ok"]);
      for (const none of ["identity", ""]) {
        const headers = { ...key, ...encoding(form, none) };
        const plain = await send(service().base, form, getContact, enveloped(form, message), headers);
        expect([form.name, plain.code]).toEqual([form.name, "ok"]);
      }
    }
  });

  test("is invalid_argument if it is not gzip or is cut off [VAL-01, WIR-06]", async () => {
    for (const form of forms) {
      const gzipped = gzipSync(written(form, createContact, { fullName: "x" }));
      for (const broken of [
        Buffer.from("no gzip"),
        gzipped.subarray(0, -4),
        Buffer.concat([gzipped.subarray(0, -8), Buffer.alloc(8)]),
      ]) {
        const response = await send(service().base, form, createContact, enveloped(form, broken, 1), {
          ...key,
          ...encoding(form, "gzip"),
        });
        expectUnreadable(response, form, "decompression failed");
      }
    }
  });

  test("is the protocol's own unimplemented, which names gzip, if its compression is unknown [WIR-01]", async () => {
    for (const form of forms) {
      const response = await send(service().base, form, createContact, enveloped(form, Buffer.from("x"), 1), {
        ...key,
        ...encoding(form, "br"),
      });
      expect([
        form.name,
        response.code,
        response.headers.get(form.protocol === "connect" ? "accept-encoding" : "grpc-accept-encoding"),
      ]).toEqual([form.name, "unimplemented", "gzip"]);
    }
  });

  test("is 401 first, if its compression is unknown and its key was revoked, which the instance remembers [ERR-12, AUT-01]", async () => {
    for (const form of forms) {
      const account = await service().account();
      expect((await service().rest("/v1/sessions", { key: account.key })).status).toBe(200);
      await service().app.services.apiKeys.revoke(new UUID(account.id));
      const response = await send(service().base, form, createContact, enveloped(form, Buffer.from("x"), 1), {
        authorization: `Bearer ${account.key}`,
        ...encoding(form, "br"),
      });
      expect([form.name, response.code]).toEqual([form.name, "unauthenticated"]);
    }
  });

  test("without the name of its compression is internal, as gRPC requires, and so is any flag but the one for it [WIR-06]", async () => {
    const before = await counts(service());
    for (const form of forms.filter(({ protocol }) => protocol !== "connect")) {
      const message = written(form, createContact, { fullName: "x" });
      for (const coding of [{}, encoding(form, "identity"), encoding(form, "")])
        for (const [data, flags] of [
          [gzipSync(message), 1],
          [message, 1],
          [message, 2],
          [message, 0x80],
        ] as const) {
          const headers = { ...key, ...coding };
          const response = await send(service().base, form, createContact, enveloped(form, data, flags), headers);
          expect([form.name, response.code, response.message]).toEqual([
            form.name,
            "internal",
            expect.stringMatching(/^the flags of the message.s envelope (say|must be 0)/),
          ]);
        }
    }
    expect(await counts(service())).toEqual(before);
  });

  test("is rejected for its size if it inflates to a gibibyte, and uses little memory [VAL-04, WIR-06]", async () => {
    // A gzip may have many members, so that this one need not be made as a whole.
    const member = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    expect(bomb.length).toBeGreaterThan(1_000_000);
    for (const form of forms) {
      const sent = enveloped(form, bomb.subarray(0, 1024 * 1024), 1);
      const before = process.memoryUsage();
      const response = await send(service().base, form, createContact, sent, { ...key, ...encoding(form, "gzip") });
      const after = process.memoryUsage();
      expectRejected(response, form, [": the message must be at most 262144 bytes"]);
      expect(after.external + after.heapUsed - before.external - before.heapUsed, form.name).toBeLessThan(
        64 * 1024 * 1024,
      );
    }
  });
});
