// The access policy of operators, over fake dependencies: who is authorized, in which order, and what the service
// is granted.
import { createHash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { MongoNetworkError } from "mongodb";
import { beforeEach, describe, expect, test } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { fail } from "../../src/call/errors.ts";
import { InterfaceService } from "../../src/gen/records/admin/v1/interface_pb.ts";
import { ImportRequestSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import type { Operator } from "../../src/guards/internal.ts";
import { grantWrites, readOnlyScope, readScope, requireGrant } from "../../src/call/scope.ts";
import type { StreamHandler } from "../../src/guards/stream.ts";
import { createStreamDispatch } from "../../src/guards/stream.ts";
import type { Dispatch } from "../../src/call/dispatch.ts";
import type { Made } from "./made.ts";
import { accountId, contactId, internalPoliciesOf, make, reasonOf } from "./made.ts";

const { getContact, createContact } = ContactService.method;
const { upsertContacts } = IngestService.method;
const account = accountId.toHexString();
const token = { authorization: "Bearer token-one" };
const one = { contactId };
const batch = { accountId: account, contacts: [{ fullName: "Ann" }] };

let parts: Made;
beforeEach(() => {
  parts = make();
});

describe("the internal access policy", () => {
  let dispatch: Dispatch;
  beforeEach(() => {
    dispatch = parts.behind(internalPoliciesOf(parts));
  });
  const call = (...[rpc, headers, message]: [Parameters<Made["call"]>[1], Record<string, string>, object?]) =>
    parts.call(dispatch, rpc, headers, message);

  test.each([
    {},
    { authorization: "Bearer token-on" },
    { authorization: "Bearer token-three" },
    { authorization: "Basic token-one" },
    { authorization: "Bearer " },
  ])("rejects the credential %j, which is not a service token", async (headers) => {
    const { setWrites } = InterfaceService.method;
    for (const [rpc, message] of [
      [upsertContacts, batch],
      [getContact, one],
      [setWrites, { enabled: true, reason: "" }],
    ] as const)
      expect(await reasonOf(call(rpc, { ...headers }, message))).toBe("INVALID_SERVICE_TOKEN");
    expect(await reasonOf(call(HealthService.method.checkHealth, headers))).toBe("no failure");
    expect(parts.steps).toEqual(["serve CheckHealth"]);
    expect(parts.grants).toEqual([undefined]);
  });

  test("accepts each of the tokens, identifies the operator by the beginning of its hash, and does not throttle [RTE-17]", async () => {
    parts.world.waitMs = 1;
    parts.world.publicInterface = false;
    for (const name of ["token-one", "token-two"]) {
      await call(upsertContacts, { authorization: `Bearer ${name}` }, batch);
      const { caller } = parts.grants.pop() as Operator;
      expect(caller).toEqual({
        address: "192.0.2.1",
        requestId: "r1",
        token: createHash("sha256").update(name).digest("hex").slice(0, 8),
      });
    }
    await dispatch.throttle(parts.inbound());
    expect(parts.steps).toEqual(["serve UpsertContacts", "serve UpsertContacts"]);
  });

  test("an operator can write into an account that exists, and into no other", async () => {
    await call(upsertContacts, token, batch);
    const operator = parts.grants[0] as Operator;
    expect(parts.observation).toEqual({ account: accountId, serviceToken: "75c5c10f" });
    const scope = await operator.scopeFor(account.toUpperCase());
    expect(scope.accountId.equals(accountId)).toBe(true);
    expect(() => requireGrant(scope)).not.toThrow();
    await expect(operator.scopeFor(contactId)).rejects.toMatchObject({
      reason: Reason.NOT_FOUND,
      message: "There is no such account. Check the id.",
    });
  });

  test("if the switches may have changed since they were read, records are not written, and everything else continues", async () => {
    parts.world.isStale = true;
    const own = { ...token, "records-account-id": account };
    const setWrites = { enabled: true, reason: "" };
    expect([
      await reasonOf(call(upsertContacts, token, batch)),
      await reasonOf(call(createContact, own, { fullName: "Ann" })),
      await reasonOf(call(getContact, own, one)),
      await reasonOf(call(InterfaceService.method.setWrites, token, setWrites)),
    ]).toEqual(["UNAVAILABLE", "UNAVAILABLE", "no failure", "no failure"]);
  });

  test("an account's own operations are executed on behalf of the account in the header", async () => {
    const own = { ...token, "records-account-id": account.toUpperCase() };
    await call(getContact, own, one);
    expect(parts.grants[0]).toMatchObject({ accountId, unproven: undefined });
    expect(parts.observation).toMatchObject({ account: accountId });
    await call(createContact, { ...own, "idempotency-key": "again" }, { fullName: "Ann" });
    expect(() => requireGrant(parts.grants[1] as never)).not.toThrow();
    expect(parts.steps).toEqual(["serve GetContact", "once CreateContact again", "serve CreateContact"]);
    expect(await reasonOf(call(getContact, { ...token, "records-account-id": contactId }, one))).toBe("NOT_FOUND");
  });

  test.each([undefined, "", "7", `${account}0`, ` ${account}`])("rejects %j, which is not an account", async (name) => {
    const violations = [
      { field: "records-account-id", rule: "string.uuid", message: "must be the id of the account, a UUID" },
    ];
    await expect(
      call(getContact, { ...token, ...(name !== undefined && { "records-account-id": name }) }, one),
    ).rejects.toMatchObject({ reason: Reason.INVALID_REQUEST, violations });
  });
});

describe("a stream", () => {
  const rpc = IngestService.method.import;
  const first = create(ImportRequestSchema, { accountId: account });

  /** Lets every message through to the responses. */
  const echo: StreamHandler = async function* (messages) {
    yield* messages;
  };

  async function responsesOf(
    handler: StreamHandler,
    messages: () => AsyncIterable<Message>,
    headers: Record<string, string> = token,
  ): Promise<number> {
    const stream = await createStreamDispatch(internalPoliciesOf(parts), new Map([[rpc, handler]])).admit(
      rpc,
      parts.inbound(headers),
    );
    let count = 0;
    for await (const _ of stream(messages())) count += 1;
    return count;
  }

  test("is 503 if MongoDB cannot serve, and keeps every other failure", async () => {
    const failing = (error: Error): StreamHandler =>
      async function* (messages) {
        yield* messages;
        throw error;
      };
    const messages = async function* (): AsyncGenerator<Message> {
      yield first;
    };
    const cause = new MongoNetworkError("gone");
    await expect(responsesOf(failing(cause), messages)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, cause });
    const other = new Error("premature EOF");
    await expect(responsesOf(failing(other), messages)).rejects.toBe(other);
  });

  test("is rejected for an rpc that nobody serves, or that is not the operator's", async () => {
    const nobody = createStreamDispatch(internalPoliciesOf(parts), new Map());
    expect(await reasonOf(nobody.admit(rpc, parts.inbound(token)))).toBe("UNKNOWN_PATH");
    const { policyOf } = internalPoliciesOf(parts);
    for (const grant of [undefined, readScope(accountId, deadlineIn(1_000))]) {
      const astray = createStreamDispatch(
        { policyOf: (facts) => ({ ...policyOf(facts), grant: () => grant }) },
        new Map([[rpc, echo]]),
      );
      await expect(astray.admit(rpc, parts.inbound(token))).rejects.toThrow(
        "Import streams, and is not the operator's",
      );
    }
  });
});

test("only the guards grant a scope the right to write, and never one of an assistant", () => {
  const deadline = deadlineIn(1_000);
  expect(() => requireGrant({ ...grantWrites(readScope(accountId, deadline)) } as never)).toThrow("Access denied");
  expect(() => grantWrites(readOnlyScope(accountId, deadline))).toThrow("Access denied");
  const claim = { document: () => fail(Reason.INTERNAL) };
  expect(grantWrites(readScope(accountId, deadline), claim)).toMatchObject({
    accountId,
    unproven: undefined,
    claim,
    deadline,
  });
});
