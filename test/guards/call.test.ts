// What the log and the metrics get of a call: the number of its rows, and its account.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { GetAccountRequestSchema, GetAccountResponseSchema } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { UpsertContactsRequestSchema } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { GetContactResponseSchema, SearchContactsResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { countRows, listOf, observeAccount } from "../../src/guards/call.ts";
import type { Inbound, Observation } from "../../src/call/dispatch.ts";
import type { Tally } from "../../src/tally.ts";
import { createTally } from "../../src/tally.ts";

test.each<[DescMessage, string | undefined]>([
  [SearchContactsResponseSchema, "contacts"],
  [UpsertContactsRequestSchema, "contacts"],
  [GetContactResponseSchema, undefined],
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
