// Large responses of the gateway: which are made in pieces, and which take a slot for huge ones.
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { RpcResponse } from "../../src/call/dispatch.ts";
import type { DeflatedText } from "../../src/large/deflated.ts";
import { defineDeflatedField, deflateText } from "../../src/large/deflated.ts";
import { GetContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import type { GetSessionTranscriptResponse, Transcript } from "../../src/gen/records/v1/sessions_pb.ts";
import { GetSessionTranscriptResponseSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import type { Tally } from "../../src/call/tally.ts";
import { createTally } from "../../src/call/tally.ts";
import { createExchange, serve } from "./exchange.ts";
import { responseOf } from "./gateway.ts";

const id = "3f2a8c54-0000-4000-8000-000000000001";
const at = { seconds: 1_769_851_800n, nanos: 0 };
const notes = "Zoë: hello\n".repeat(60_000);
const contact = responseOf(GetContactResponseSchema, { contact: { id, notes, createdAt: at, updatedAt: at } });

let text: DeflatedText;
beforeAll(async () => {
  text = await deflateText("[00:12] Zoë");
});

test.each([
  ["is not measured", undefined],
  ["is below a megabyte", 999_999],
] as const)("a response whose data %s is sent at once", async (_what, dbBytes) => {
  const { pieces } = await get("/v1/contacts/1", contact, { tally: tallyOf(dbBytes) });
  expect(pieces).toHaveLength(1);
  expect(JSON.parse(pieces.join(""))).toMatchObject({ data: { id, notes } });
});

test("a response whose data is a megabyte or more is sent in pieces, with the same bytes", async () => {
  const { pieces, headers } = await get("/v1/contacts/1", contact, { tally: tallyOf(1_000_000) });
  expect(pieces.length).toBeGreaterThan(2);
  const whole = (await get("/v1/contacts/1", contact)).pieces.join("");
  expect(pieces.join("")).toBe(whole);
  expect(headers["Content-Length"]).toBe(Buffer.byteLength(whole));
});

test.each([0, 1_000_000])("a stored response is sent as it is stored, after %d bytes of data", async (dbBytes) => {
  const stored = { ...contact, replayed: true, body: '{"data": "as it was sent"}' };
  const { pieces } = await get("/v1/contacts/1", stored, { tally: tallyOf(dbBytes) });
  expect(pieces).toEqual(['{"data": "as it was sent"}']);
});

test("an account gets 503 for one huge text too many at a time, and no longer once another has been read", async () => {
  const account = createAccount("of huge texts");
  const statuses = [];
  // An instance with the largest heap makes two for an account.
  for (let count = 0; count < 3; count += 1) statuses.push(await account.getText(4_000_000));
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 503]);
  account.endAll();
  expect(await account.getText(4_000_000)).toBe(200);
});

test("the texts that an account gets below 4 MB, or compressed, are not limited", async () => {
  const account = createAccount("of large texts");
  for (let count = 0; count < 3; count += 1) {
    expect(await account.getText(3_999_999)).toBe(200);
    expect(await account.getText(4_000_000, "gzip")).toBe(200);
  }
});

function tallyOf(dbBytes: number | undefined): Tally | undefined {
  return dbBytes === undefined ? undefined : { ...createTally(), dbBytes };
}

/** An account whose requests end with the test, or before. */
function createAccount(account: string): { endAll(): void; getText(size: number, coding?: string): Promise<number> } {
  let ends: (() => void)[] = [];
  const endAll = (): void => {
    for (const end of ends) end();
    ends = [];
  };
  onTestFinished(endAll);
  const onEnd = (release: () => void): boolean => ends.push(release) > 0;
  return {
    endAll,
    async getText(size, acceptEncoding = "identity") {
      const tally = { ...createTally(), account, onEnd };
      const response = transcriptOf({ ...text, size });
      return (await get("/v1/sessions/1/transcript", response, { tally, acceptEncoding })).status;
    },
  };
}

function transcriptOf(deflated: DeflatedText): RpcResponse {
  const response = responseOf(GetSessionTranscriptResponseSchema, { transcript: { sessionId: id } });
  const { transcript } = response.message as GetSessionTranscriptResponse;
  defineDeflatedField(transcript as Transcript, "transcript", deflated);
  return response;
}

/** Serves a GET whose service returns this response. */
async function get(
  url: string,
  rpcResponse: RpcResponse,
  { tally, acceptEncoding = "" }: { tally?: Tally | undefined; acceptEncoding?: string } = {},
) {
  const exchange = createExchange("HTTP/1.1", { url, acceptEncoding });
  const { response, calls, headers } = exchange;
  await serve(exchange, () => rpcResponse, { ...(tally && { tally }) });
  const pieces = calls.flatMap(([call, piece]) => (call === "write" && piece !== undefined ? [piece] : []));
  return { status: response.statusCode, headers, pieces };
}
