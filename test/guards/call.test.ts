// What the log and the metrics get of a call: the number of its rows, and its account.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AccountService, CreateAccountResponseSchema } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import {
  ExportRequestSchema,
  ExportResponseSchema,
  ImportRequestSchema,
  ImportResponseSchema,
} from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import type { StreamHandler } from "../../src/guards/stream.ts";
import { createStreamDispatch } from "../../src/guards/stream.ts";
import { createTally } from "../../src/call/tally.ts";
import { accountId, internalPoliciesOf, make } from "./made.ts";

describe("on the internal listener", () => {
  const account = accountId.toHexString();
  const token = { authorization: "Bearer token-one" };

  test("the log has the account that an operator has just created", async () => {
    const parts = make();
    parts.world.respond = () => create(CreateAccountResponseSchema, { account: { id: account } });
    const email = "ann@example.com";
    await parts.call(parts.behind(internalPoliciesOf(parts)), AccountService.method.createAccount, token, { email });
    expect(parts.observation).toMatchObject({ account: accountId });
  });

  const records = [{ record: { case: "contact", value: { fullName: "Ann" } } }] as const;
  test.each<[string, DescMethod, Message, Message]>([
    [
      "receives",
      IngestService.method.import,
      create(ImportRequestSchema, { accountId: account, records: [...records, ...records] }),
      create(ImportResponseSchema, { rejections: [{}] }),
    ],
    [
      "sends",
      IngestService.method.export,
      create(ExportRequestSchema, { accountId: account }),
      create(ExportResponseSchema, { records: [...records, ...records] }),
    ],
  ])("a stream has the rows of the records that it %s", async (_how, rpc, request, response) => {
    const parts = make();
    const tally = createTally();
    const respond: StreamHandler = async function* (messages) {
      for await (const _ of messages) yield response;
    };
    const streams = createStreamDispatch(internalPoliciesOf(parts), new Map([[rpc, respond]]));
    const stream = await streams.admit(rpc, { ...parts.inbound(token), tally });
    const requests = (async function* () {
      yield request;
    })();
    for await (const _ of stream(requests)) void _;
    expect(tally.rows).toBe(2);
  });
});
