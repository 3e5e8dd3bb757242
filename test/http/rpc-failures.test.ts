// Rejections before any rpc is found: both listeners report them in the protocol of the request.
import type { OutgoingHttpHeaders } from "node:http2";
import { expect, test } from "vitest";
import { Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { grpcStatus } from "../fixtures/clients/grpc-status.ts";
import { grpcCall, http2Call } from "../fixtures/clients/http2-call.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { useService } from "../support/client.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";

const service = useService();

const paths = ["/records.ingest.v1.IngestService/Nope", "/foo.Bar/Baz", "/nope", "/v1x"];
const types = ["application/grpc", "application/grpc+json", "application/grpc-web", "application/grpc-web+json"];

/** The response of each listener, without what differs between any two requests. */
async function onBoth(headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<readonly Record<string, unknown>[]> {
  return Promise.all(
    [service().base, service().internal].map(async (base) => {
      const response = await http2Call(base, { ":method": "POST", ...headers }, body);
      const { "content-type": type, "grpc-status": code, "grpc-message": message } = response.headers;
      return { status: response.status, type, code, message, text: response.text };
    }),
  );
}

test("an unknown rpc over gRPC and gRPC-Web is UNIMPLEMENTED on both listeners, as a status of gRPC [WIR-06, ERR-05]", async () => {
  const message = "The path does not exist. Check it against the API reference.";
  for (const path of paths) {
    for (const type of types) {
      const [onPublic, onInternal] = await onBoth({ ":path": path, "content-type": type }, Buffer.alloc(5));
      expect(onPublic, `${path} ${type}`).toEqual({ status: 200, type, code: "12", message, text: "" });
      expect(onInternal, `${path} ${type}`).toEqual(onPublic);
    }
  }
});

test("a client of gRPC sees an unknown rpc as UNIMPLEMENTED on both listeners, with words [WIR-06, ERR-05]", async () => {
  const expected = { code: 12, details: "The path does not exist. Check it against the API reference." };
  for (const base of [service().base, service().internal])
    for (const path of [...paths.slice(0, 2), "/grpc.health.v1.Health/Nope"])
      expect([path, await grpcStatus(base, path.slice(1))]).toEqual([path, expected]);
});

test("calls of an unknown rpc beyond the bucket are RESOURCE_EXHAUSTED for a client of gRPC [RTE-14, WIR-06]", async () => {
  const another = await service().another({ RATE_LIMIT: "1", RATE_BURST: "2" });
  const calls = Array.from({ length: 12 }, () => grpcStatus(another.base, "records.v1.ContactService/Nope"));
  const codes = (await Promise.all(calls)).map(({ code }) => code);
  await another.stop();
  expect([...new Set(codes)].sort()).toEqual([12, 8]);
});

test.each([
  ["an unknown rpc", "/records.v1.NoteService/DeleteNote", {}, "12"],
  ["a known rpc without a key", "/records.v1.ContactService/GetContact", {}, "16"],
  ["an unknown codec", "/records.v1.ContactService/GetContact", { "content-type": "application/grpc+xml" }, "12"],
  ["headers that are too large", "/records.v1.ContactService/GetContact", { "x-long": "x".repeat(20_000) }, "3"],
  ["another Expect", "/records.v1.ContactService/GetContact", { expect: "something" }, "12"],
  ["a stream without a token", "/records.ingest.v1.IngestService/Export", {}, undefined],
  ["a health check of an unknown service", "/grpc.health.v1.Health/Check", {}, undefined],
])(
  "the status of %s is one HEADERS frame that ends the stream, on both listeners [WIR-06]",
  async (_, path, sent, code) => {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...sent };
    const message = Buffer.from([0, 0, 0, 0, 3, 10, 1, 120]);
    for (const base of [service().base, service().internal]) {
      const { headers: received, frames } = await http2Call(base, headers, message);
      expect(frames, base).toEqual([{ type: "headers", endStream: true }]);
      expect(received["grpc-status"], base).toMatch(code === undefined ? /^[1-9]/ : new RegExp(`^${code}$`));
    }
  },
);

test("a client that says it uses Connect gets an unknown rpc as Connect's own error on both listeners [WIR-06, ERR-05]", async () => {
  for (const base of [service().base, service().internal]) {
    const transport = createConnectTransport({ baseUrl: base, httpVersion: "1.1" });
    const error = { code: "unimplemented", message: "The path does not exist. Check it against the API reference." };
    for (const path of ["/records.v1.ContactService/MergeContacts", "/foo.Bar/Baz"]) {
      const sent = { "Content-Type": "application/json", "Connect-Protocol-Version": "1", Accept: "text/html" };
      const response = await fetch(base + path, { method: "POST", headers: sent, body: "{}" });
      expect([path, response.status, await response.json()]).toMatchObject([path, 501, error]);
      const stream = await fetch(base + path, {
        method: "POST",
        headers: { "Content-Type": "application/connect+json" },
        body: "\0\0\0\0\x02{}",
      });
      const end = Buffer.from(await stream.arrayBuffer());
      expect([path, stream.status, end[0], JSON.parse(end.toString("utf8", 5))]).toMatchObject([
        path,
        200,
        2,
        { error },
      ]);
      expect(stream.headers.get("content-type")).toBe("application/connect+json");
    }
    const rpc = { ...ContactService.method.getContact, name: "MergeContacts" };
    const failed = await transport.unary(rpc, undefined, undefined, undefined, {}).catch(ConnectError.from);
    expect([(failed as ConnectError).code, (failed as ConnectError).rawMessage]).toEqual([
      Code.Unimplemented,
      "The path does not exist. Check it against the API reference.",
    ]);
  }
});

test.each([
  "application/grpc;charset=utf-8",
  "application/grpc+proto; a=b",
  "Application/GRPC",
  "application/grpc;proto",
])("a call with the content type %s is served as one of gRPC [WIR-01]", async (type) => {
  const response = await grpcCall(service().base, "records.v1.HealthService/CheckHealth", Buffer.alloc(0), {
    "content-type": type,
  });
  expect([response.headers["grpc-status"], response.headers["content-type"]]).toEqual(["0", "application/grpc+proto"]);
});

test.each([
  ["headers that are too large", { "x-long": "x".repeat(20_000) }, "3"],
  ["an unknown Expect", { expect: "something" }, "12"],
])("both listeners report %s as a status of gRPC, also for an unknown path [WIR-06, ERR-08]", async (_, sent, code) => {
  for (const path of [...paths, "/records.v1.ContactService/GetContact"]) {
    for (const type of types) {
      const [onPublic, onInternal] = await onBoth({ ":path": path, "content-type": type, ...sent }, Buffer.alloc(5));
      expect(onPublic?.["status"], `${path} ${type}`).toBe(200);
      // gRPC-Web has its trailers in the body.
      const found = type.startsWith("application/grpc-web") ? onPublic?.["text"] : `grpc-status: ${onPublic?.["code"]}`;
      expect(found, `${path} ${type}`).toContain(`grpc-status: ${code}`);
      expect(onInternal, `${path} ${type}`).toEqual(onPublic);
    }
  }
});

test("an unknown path over anything but gRPC is the same 404 in the envelope on both listeners [ERR-05]", async () => {
  for (const path of ["/records.ingest.v1.IngestService/Nope", "/v0/health"]) {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`;
    const sent = `${head}Connection: close\r\n\r\n{}`;
    const both = await Promise.all([service().base, service().internal].map((base) => exchange(base, sent)));
    const [onPublic, onInternal] = both.map(({ responses }) => responses.map(({ status, body }) => [status, body]));
    expect(onPublic).toEqual([[404, expect.stringContaining('"code":"404"')]]);
    expect(onInternal).toEqual(onPublic);
  }
});
