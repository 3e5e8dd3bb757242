// The body of every rejection at /mcp: the envelope of REST that is also a JSON-RPC error, so that clients show it.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";
import { rest, startService } from "../../fixtures/service/service.ts";
import { accessToken, sendBatch } from "../../fixtures/sign-in/assistants.ts";

let fake: FakeProvider;
let service: TestService;
let token: string;
beforeAll(async () => {
  fake = await startFakeProvider();
  service = await startService({ ...fake.settings(), RATE_LIMIT: "40", RATE_BURST: "40" });
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
  token = await accessToken(fake);
});
afterAll(async () => {
  await service.stop();
  await fake.stop();
});

function sendText(raw: string, headers: Record<string, string> = {}): Promise<RestResponse> {
  const all = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    Authorization: `Bearer ${token}`,
    ...headers,
  };
  return rest(service.base, "/mcp", { method: "POST", raw, headers: all });
}

test.each<[string, number, RegExp, () => Promise<RestResponse>]>([
  ["without a token", 401, /missing/, () => rest(service.base, "/mcp", { method: "POST", raw: "{}" })],
  ["with a token that is not valid", 401, /not valid/, () => sendText("{}", { Authorization: "Bearer none" })],
  ["of another origin", 403, /^Origin: must be/, () => sendText("{}", { Origin: "https://evil.example" })],
  [
    "of another method",
    405,
    /does not support this method/,
    () => rest(service.base, "/mcp", { headers: { Authorization: `Bearer ${token}` } }),
  ],
  ["that is a batch of 41 messages", 422, /^a batch must have at most/, () => sendBatch(service.base, token, 41)],
  ["of 200 levels", 422, /at most 100 levels/, () => sendText(`${"[".repeat(200)}${"]".repeat(200)}`)],
  ["of 1,001 values", 422, /at most 1000 values/, () => sendText(JSON.stringify({ params: Array(1_001).fill(0) }))],
])("the body of a rejected request %s is also a JSON-RPC error [MCP-13]", async (_, status, says, requested) => {
  const response = await requested();
  expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/json; charset=utf-8"]);
  const { error, ...rest } = response.body;
  expect(rest).toEqual({ jsonrpc: "2.0", id: null });
  expect(error).toMatchObject({ code: String(status), message: expect.stringMatching(says) });
  expect(Array.isArray(error.details)).toBe(status === 422);
});

test("the body of a 503 is also a JSON-RPC error [MCP-13, ERR-14]", async () => {
  const setEnabled = (enabled: boolean): Promise<RestResponse> =>
    service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled, reason: "test" });
  await setEnabled(false);
  try {
    const { status, body } = await sendText("{}");
    expect([status, body]).toEqual([
      503,
      {
        jsonrpc: "2.0",
        id: null,
        error: {
          code: "503",
          message: "The public interface is temporarily disabled. Try again later.",
          reason: "INTERFACE_DISABLED",
        },
      },
    ]);
  } finally {
    await setEnabled(true);
  }
});
