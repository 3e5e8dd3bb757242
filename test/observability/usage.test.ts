// Which requests an account's counts by day include.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { call, holderOf } from "../mcp/tools/set-up.ts";

const fixture = useSignInFixture();

test("counts requests with the key over REST and gRPC and those of assistants, with each 429, and no others [OPS-75]", async () => {
  const holder = await holderOf(fixture());
  const { service, base } = fixture();
  const { accountId, key } = holder;
  const counts = async (): Promise<readonly [requests: number, rejected: number]> => {
    await service.app.services.usage.flush();
    const days = (await service.app.services.usage.last(new UUID(accountId), deadlineIn(5_000))).days;
    return [days.reduce((sum, day) => sum + day.requests, 0), days.reduce((sum, day) => sum + day.rejected, 0)];
  };
  const before = await counts();
  const since = async () => {
    const after = await counts();
    return [after[0] - before[0], after[1] - before[1]];
  };

  const search = (bearer: string) => service.rest("/v1/contacts?query=ann", { key: bearer });
  expect((await search(key)).status).toBe(200);
  expect((await service.rest("/v1/no/such/path", { key })).status).toBe(404);
  const grpc = createClient(ContactService, createGrpcTransport({ baseUrl: base }));
  await grpc.searchContacts({ query: "ann" }, { headers: { Authorization: `Bearer ${key}` } });
  await expect.poll(since).toEqual([3, 0]);
  // None of these used the key or an assistant of the account.
  const { cookie } = await signIn(fixture(), ann);
  await sendRequest(`${base}/v1/api-key`, { cookie });
  await search(`rec_${"0".repeat(49)}`);
  await service.internalCall(
    "records.v1.ContactService/SearchContacts",
    { query: "ann" },
    { "records-account-id": accountId },
  );
  await call(holder, "search_contacts", { query: "ann" });
  await expect.poll(since).toEqual([4, 0]);
  const last = (await service.app.services.usage.last(new UUID(accountId), deadlineIn(5_000))).requests;
  expect(last.slice(0, 4).map(({ method, route, status }) => `${method} ${route} ${status}`)).toEqual([
    "POST /mcp search_contacts 200",
    "POST /records.v1.ContactService/SearchContacts 200",
    "GET - 404",
    "GET /v1/contacts 200",
  ]);

  // Most are rejected from memory, without a line in the log.
  const narrow = await service.another({ RATE_LIMIT: "1", RATE_BURST: "2" });
  try {
    const send = () => narrow.rest("/v1/contacts?query=ann", { key });
    const responses = [
      await send(),
      await send(),
      await send(),
      ...(await Promise.all(Array.from({ length: 37 }, send))),
    ];
    const limited = responses.filter(({ status }) => status === 429).length;
    expect(limited).toBeGreaterThan(20);
    await expect.poll(async () => (await narrow.app.services.usage.flush(), since())).toEqual([44, limited]);
  } finally {
    await narrow.stop();
  }
});

test("counts are deleted 31 days after the day began [OPS-75]", async () => {
  const indexes = await fixture().service.app.client.db().collection("request_counts").indexes();
  expect(indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)).toMatchObject([
    { key: { "_id.day": 1 }, expireAfterSeconds: 2_678_400 },
  ]);
});
