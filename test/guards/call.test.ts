// What the log and the metrics get of a call: the number of its rows, and its account.
import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { describe, expect, test } from "vitest";
import {
  AccountService,
  CreateAccountResponseSchema,
  GetAccountRequestSchema,
  GetAccountResponseSchema,
} from "../../src/gen/records/admin/v1/accounts_pb.ts";
import {
  ExportRequestSchema,
  ExportResponseSchema,
  ImportRequestSchema,
  ImportResponseSchema,
} from "../../src/gen/records/ingest/v1/import_pb.ts";
import {
  ArchiveContactsRequestSchema,
  DeleteRecordsRequestSchema,
  IngestService,
  UpsertContactsRequestSchema,
} from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { GetContactResponseSchema, SearchContactsResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { countRows, listOf, observeAccount } from "../../src/guards/call.ts";
import type { StreamHandler } from "../../src/guards/stream.ts";
import { createStreamDispatch } from "../../src/guards/stream.ts";
import type { Inbound, Observation } from "../../src/call/dispatch.ts";
import type { Tally } from "../../src/call/tally.ts";
import { createTally } from "../../src/call/tally.ts";
import { accountId, internalPoliciesOf, make } from "./made.ts";

test.each<[DescMessage, string | undefined]>([
  [SearchContactsResponseSchema, "contacts"],
  [UpsertContactsRequestSchema, "contacts"],
  [GetContactResponseSchema, undefined],
  [ArchiveContactsRequestSchema, undefined],
  [DeleteRecordsRequestSchema, "external"],
])("finds the list of %s: %j", (message, list) => {
  expect(listOf(message)).toBe(list);
});

test("adds up the rows of a call, and has none for a call without a list", () => {
  const tally: Tally = createTally();
  const three = create(SearchContactsResponseSchema, { contacts: [{}, {}, {}] });
  countRows({ tally }, three, undefined);
  expect(tally.rows).toBeUndefined();
  countRows({ tally }, three, "contacts");
  countRows({ tally }, three, "contacts");
  expect(tally.rows).toBe(6);
  countRows({ tally }, three, "missing");
  expect(tally.rows).toBe(6);
  expect(() => countRows({}, three, "contacts")).not.toThrow();
});

test.each<[string, Message, boolean]>([
  ["a request", create(GetAccountRequestSchema, { accountId: "3f2a8c54-0000-4000-8000-000000000001" }), true],
  ["a response", create(GetAccountResponseSchema, { account: { id: "3f2a8c54-0000-4000-8000-000000000001" } }), true],
  ["an invalid id", create(GetAccountRequestSchema, { accountId: "7" }), false],
  ["a message without one", create(SearchContactsResponseSchema), false],
])("observes the account of %s if it is one", (_what, message, observed) => {
  const observation: Observation = {};
  observeAccount({ observation } as Inbound, message);
  expect(observation).toEqual(observed ? { account: new UUID("3f2a8c54-0000-4000-8000-000000000001") } : {});
});

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
