// A call with a rejected key and an unreadable message gets the rejection of the key, on every wire.
import { expect, test } from "vitest";
import { grpcCall } from "../fixtures/clients/http2-call.ts";
import { useService } from "../support/client.ts";

const service = useService();

test.each([
  ["application/json", "no JSON", 401],
  ["application/json", "", 401],
  ["application/json", '{"query":7}', 401],
  ["application/proto", "\xff\xff\xff", 401],
  ["application/grpc-web+proto", "\0\0\0\0\x7fshort", 200],
  ["application/grpc-web+json", "\x01\0\0\0\x02{}", 200],
])(
  "a call that is rejected for its key, and whose %s cannot be read, gets the reason of the key: %j [ERR-12, WIR-05, WIR-09]",
  async (type, body, status) => {
    const response = await fetch(`${service().base}/records.v1.ContactService/SearchContacts`, {
      method: "POST",
      headers: { "Content-Type": type },
      body: Buffer.from(body, "latin1"),
    });
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(status === 401 ? text : `${text} ${response.headers.get("grpc-status")}`).toMatch(
      status === 401 ? /"unauthenticated"/ : /grpc-status: ?16| 16$/,
    );
    if (status === 401) expect(response.headers.get("WWW-Authenticate")).toBe("Bearer");
  },
);

test("a gRPC call that is rejected for its key, and whose message cannot be read, gets the reason of the key [ERR-12, WIR-05]", async () => {
  const { status, headers } = await grpcCall(
    service().base,
    "records.v1.ContactService/SearchContacts",
    Buffer.from("ffffff", "hex"),
  );
  expect([status, headers["grpc-status"]]).toEqual([200, "16"]);
  const compressed = await grpcCall(
    service().base,
    "records.v1.ContactService/SearchContacts",
    Buffer.from("ffffff", "hex"),
    { "grpc-encoding": "br" },
  );
  expect([compressed.status, compressed.headers["grpc-status"]]).toEqual([200, "16"]);
});
