// gRPC-Web in base64, the default mode of the official generator for browsers.
import { fromBinary, toBinary, create } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { beforeAll, expect, test } from "vitest";
import { ContactService, GetContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";

const service = useService();
let owner: TestAccount;
let contact: string;

beforeAll(async () => {
  owner = await service().account();
  contact = await ingestInto(service(), owner.id).contact({ full_name: "Ann Lee" });
});

const { getContact } = ContactService.method;
const path = `/${getContact.parent.typeName}/${getContact.name}`;

/** The frames of a response. Each piece of base64 may have padding of its own. */
function framesOf(text: string): { readonly flags: number; readonly bytes: Buffer }[] {
  const bytes = Buffer.concat((text.match(/[^=]+=*/g) ?? []).map((piece) => Buffer.from(piece, "base64")));
  const frames = [];
  for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt32BE(at + 1))
    frames.push({ flags: bytes.readUInt8(at), bytes: bytes.subarray(at + 5, at + 5 + bytes.readUInt32BE(at + 1)) });
  return frames;
}

async function call(
  body: string,
  headers: Record<string, string> = {},
): Promise<{ readonly type: string | null; readonly frames: ReturnType<typeof framesOf> }> {
  const response = await fetch(service().base + path, {
    method: "POST",
    headers: { "Content-Type": "application/grpc-web-text", Authorization: `Bearer ${owner.key}`, ...headers },
    body,
  });
  return { type: response.headers.get("content-type"), frames: framesOf(await response.text()) };
}

function request(): Buffer {
  const message = create(getContact.input, { contactId: contact });
  return Buffer.from(encodeEnvelope(0, toBinary(getContact.input, message)));
}

test.each([
  ["in one piece", (bytes: Buffer) => bytes.toString("base64")],
  [
    "in pieces with padding of their own",
    (bytes: Buffer) => bytes.subarray(0, 5).toString("base64") + bytes.subarray(5).toString("base64"),
  ],
])("gRPC-Web in base64 is served in base64, for a message %s [WIR-01]", async (_, encode) => {
  for (const type of ["application/grpc-web-text", "application/grpc-web-text+proto", "Application/gRPC-Web-Text"]) {
    const { type: received, frames } = await call(encode(request()), { "Content-Type": type });
    expect(received).toBe("application/grpc-web-text+proto");
    expect(frames.map(({ flags }) => flags)).toEqual([0, 128]);
    expect(fromBinary(GetContactResponseSchema, frames[0]?.bytes ?? Buffer.alloc(0)).contact?.fullName).toBe("Ann Lee");
    expect(frames[1]?.bytes.toString()).toContain("grpc-status: 0");
  }
});

test.each([
  ["without a key", { Authorization: "" }, (): string => request().toString("base64"), 16],
  ["with a message that is not base64", {}, (): string => "###", 3],
  ["with base64 that is cut", {}, (): string => request().toString("base64").slice(0, -1), 3],
])("a call of gRPC-Web in base64 %s gets its status in base64 [WIR-06]", async (_, headers, body, code) => {
  const { type, frames } = await call(body(), headers);
  expect(type).toBe("application/grpc-web-text+proto");
  expect(frames.map(({ flags }) => flags)).toEqual([128]);
  expect(frames[0]?.bytes.toString()).toContain(`grpc-status: ${code}`);
});
