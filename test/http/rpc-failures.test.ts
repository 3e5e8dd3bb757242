// Rejections before any rpc is found: both listeners report them in the protocol of the request.
import type { OutgoingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { http2Call } from "../../fixtures/clients/http2-call.ts";
import { exchange } from "../../fixtures/clients/raw.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const paths = ["/records.ingest.v1.IngestService/Nope", "/foo.Bar/Baz", "/nope", "/v1x"];
const types = ["application/grpc", "application/grpc+json", "application/grpc-web", "application/grpc-web+json"];

/** The response of each listener, without what differs between any two requests. */
async function onBoth(headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<readonly Record<string, unknown>[]> {
  return Promise.all(
    [service.base, service.internal].map(async (base) => {
      const response = await http2Call(base, { ":method": "POST", ...headers }, body);
      const { "content-type": type, "grpc-status": code, "grpc-message": message } = response.headers;
      return { status: response.status, type, code, message, text: response.text };
    }),
  );
}

test("an unknown rpc over gRPC and gRPC-Web is UNIMPLEMENTED on both listeners, as a status of gRPC [WIR-06, ERR-05]", async () => {
  const message = encodeURIComponent("The path does not exist. Check it against the API reference.");
  for (const path of paths) {
    for (const type of types) {
      const [onPublic, onInternal] = await onBoth({ ":path": path, "content-type": type }, Buffer.alloc(5));
      expect(onPublic, `${path} ${type}`).toEqual({ status: 200, type, code: "12", message, text: "" });
      expect(onInternal, `${path} ${type}`).toEqual(onPublic);
    }
  }
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
    const both = await Promise.all([service.base, service.internal].map((base) => exchange(base, sent)));
    const [onPublic, onInternal] = both.map(({ responses }) => responses.map(({ status, body }) => [status, body]));
    expect(onPublic).toEqual([[404, expect.stringContaining('"code":"404"')]]);
    expect(onInternal).toEqual(onPublic);
  }
});
