// An access token writes nothing: the chain of guards rejects every writing rpc, and MongoDB gets no write.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { everyService, rpcsOf } from "../../fixtures/clients/descriptors.ts";
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import { SessionService } from "../../../src/gen/records/v1/sessions_pb.ts";
import type { AccessPolicies, Handler } from "../../../src/guards/chain.ts";
import { createDispatch } from "../../../src/guards/chain.ts";
import { createIdempotency } from "../../../src/guards/idempotency.ts";
import { createReservations } from "../../../src/guards/reservations.ts";
import type { WriteScope } from "../../../src/call/scope.ts";
import type { Dispatch, Inbound } from "../../../src/call/dispatch.ts";
import { statusOf, useAssistant, writesDuring } from "./assistant.ts";

const assistant = useAssistant();

/** By hand: what reads. All else writes. */
const reads = [
  "CheckHealth",
  "SearchContacts",
  "GetContact",
  "ListSessions",
  "GetSession",
  "GetSessionTranscript",
  "SearchTranscripts",
  "SearchNotes",
  "GetApiKey",
  "ListAuditEntries",
  "GetAccount",
  "ListAccounts",
  "GetState",
  "ListChanges",
  "GetLogLevel",
  "ReadDocuments",
  "Export",
];
/** Every rpc there is; the handler reports what it was granted. */
const everyRpc = everyService.flatMap(({ methods }) => methods as readonly DescMethodUnary[]);

/** The rpcs that are not known to read. */
const writesOf = rpcsOf(everyService)
  .filter(({ rpc }) => !reads.includes(rpc.name))
  .map(({ path, rpc }) => [path, rpc as DescMethodUnary] as const);

function dispatchThrough(through: AccessPolicies, served: DescMethodUnary[]): Dispatch {
  const { service } = assistant();
  const handlers = new Map<DescMethodUnary, Handler>(
    everyRpc.map((rpc) => [
      rpc,
      (message) => (served.push(rpc), Promise.resolve(create(rpc.output, {}) as Message & typeof message)),
    ]),
  );
  return createDispatch(
    through,
    handlers,
    createIdempotency(service.app.client.db(), createReservations(undefined), () => "{}"),
  );
}

describe("the assistant's access policy", () => {
  test.each(writesOf)(
    "rejects %s with 403 before its service is called, with an idempotency key and without [MCP-12]",
    async (_path, rpc) => {
      const { access, inbound } = assistant();
      for (const key of [undefined, "a-key"]) {
        const served: DescMethodUnary[] = [];
        const keyed: Inbound = {
          ...inbound,
          arrivedAt: performance.now(),
          header: (name) => (name === "idempotency-key" ? key : inbound.header(name)),
        };
        await access.enter(keyed);
        const { writes, outcome } = await writesDuring(assistant(), async () => {
          const admitted = await dispatchThrough(access, served).admit(rpc, keyed);
          return admitted.invoke(create(rpc.input, {}) as Message);
        });
        expect([statusOf(outcome), writes, served]).toEqual([403, [], []]);
        expect((outcome as Error).message).toBe("Access denied: assistants can only read.");
      }
    },
  );

  test("knows each rpc that has no side effects as a read, and no other [MCP-12]", () => {
    const writes = rpcsOf(everyService).filter((rpc) => rpc.writes);
    expect(writesOf.map(([path]) => path)).toEqual(writes.map(({ path }) => path));
  });

  test("accepts reads [MCP-12]", async () => {
    const { access, inbound } = assistant();
    const served: DescMethodUnary[] = [];
    for (const rpc of everyRpc.filter(({ name }) => name === "ListSessions" || name === "GetState")) {
      await (await dispatchThrough(access, served).admit(rpc, inbound)).invoke(create(rpc.input, {}) as Message);
    }
    expect(served.map(({ name }) => name)).toEqual(["ListSessions", "GetState"]);
  });

  test("rejects a request that was not authenticated by a token [MCP-12, MCP-13]", async () => {
    const { access, inbound } = assistant();
    const rpc = SessionService.method.listSessions;
    await expect(dispatchThrough(access, []).admit(rpc, { ...inbound })).rejects.toMatchObject({
      kind: { http: 401 },
    });
  });
});

describe("a chain without the assistant's guard", () => {
  /**
   * The chain turns a right to read into one to write if the rpc writes: only the guard prevents it.
   */
  test("cannot turn the scope of a token into a right to write [MCP-12]", async () => {
    const { service, access, inbound } = assistant();
    const forgetful: AccessPolicies = { policyOf: (facts) => ({ ...access.policyOf(facts), check: () => undefined }) };
    const { contacts } = service.app.services;
    const rpc = ContactService.method.createContact;
    const handlers = new Map<DescMethodUnary, Handler>([
      [rpc, (message, grant) => contacts.createContact(message as never, grant as WriteScope)],
    ]);
    const dispatch = createDispatch(
      forgetful,
      handlers,
      createIdempotency(service.app.client.db(), createReservations(undefined), () => "{}"),
    );
    const request: Inbound = { ...inbound, arrivedAt: performance.now() };
    await access.enter(request);
    const { writes, outcome } = await writesDuring(assistant(), async () =>
      (await dispatch.admit(rpc, request)).invoke(create(rpc.input, { fullName: "Bo" })),
    );
    expect([statusOf(outcome), writes]).toEqual([403, []]);
  });
});
