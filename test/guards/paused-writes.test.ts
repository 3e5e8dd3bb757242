// While writes are paused, every write of records that the descriptors have is unavailable on every wire that has it.
import type { CommandSucceededEvent } from "mongodb";
import { UUID } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import type { RpcFacts } from "../fixtures/clients/descriptors.ts";
import { named } from "../fixtures/clients/operations.ts";
import type { Fields } from "../fixtures/clients/wires.ts";
import { openWires } from "../fixtures/clients/wires.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { counts, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import type { RecordJson } from "../support/streams.ts";
import { importAll } from "../support/streams.ts";
import { requestTo, writesIn } from "../support/writes.ts";

const service = useService();

/** What a call comes to: "ok", or what it fails with. */
type Send = (request: Fields) => Promise<string>;

/** Every way to call a write in this account, by name. */
function waysTo({ path, rpc, caller }: RpcFacts, at: TestService, owner: Owner): Record<string, Send> {
  const inside = async (request: Fields, headers = {}): Promise<string> => {
    const { status, text, body } = await at.internalCall(path, request, headers);
    return status === 200 && !text.includes('"error"') ? "ok" : String(body.code ?? text);
  };
  const { id: accountId, key } = owner;
  if (rpc.methodKind !== "unary")
    return {
      stream: ({ records = [] }) =>
        importAll(at, { accountId, records: records as RecordJson[] }).then(
          () => "ok",
          (error: Error) => (error.message.includes("[unavailable]") ? "unavailable" : error.message),
        ),
    };
  if (caller === "service") return { inside: (request) => inside({ account_id: accountId, ...request }) };
  const { wires, close } = openWires(at);
  onTestFinished(close);
  const name = named(path);
  return {
    ...Object.fromEntries(
      wires
        .filter((wire) => wire.serves(name))
        .map((wire): [string, Send] => [
          wire.name,
          async (request) => {
            const { http, code, body } = await wire.call({ rpc: name, key, request });
            return body !== undefined ? "ok" : (code ?? (http === 503 ? "unavailable" : String(http)));
          },
        ]),
    ),
    inside: (request) => inside(request, { "records-account-id": accountId }),
  };
}

test.each(writesIn("paused writes").map((write) => [write.path, write] as const))(
  "%s is unavailable while writes are paused, and writes nothing; then it is served [ERR-16, ERR-13, CCR-09, CUP-09, CNT-10, WIR-08]",
  async (_path, write) => {
    const owner = await newOwner(service());
    const setWrites = (enabled: boolean) =>
      service().internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled, reason: "test" });
    for (const [way, send] of Object.entries(waysTo(write, service(), owner))) {
      // A contact for each: one of the writes deletes it.
      const contact = await owner.put.contact({ full_name: "Ann Lee" });
      const valid = requestTo(write, { contact, session: owner.session });
      await setWrites(false);
      const before = await counts(service());
      expect([way, await send(valid)]).toEqual([way, "unavailable"]);
      expect([way, await send({})]).toEqual([way, "unavailable"]);
      expect(await counts(service()), way).toEqual(before);
      await setWrites(true);
      expect([way, await send(valid)]).toEqual([way, "ok"]);
    }
  },
);

test("a batch ends when writes are paused while it runs: its rest is not written [ERR-16]", async () => {
  const { id: accountId, put } = await newOwner(service());
  const named = (name: string) => Array.from({ length: 600 }, (_, at) => ({ external_id: `${at}`, full_name: name }));
  const contacts = await put.contacts(...named("Ann"));
  // The new name of a contact with a session is a transaction of its own.
  await put.sessions(...contacts.map((contact_id) => ({ contact_id })));
  const { client } = service().app;
  const setWrites = (enabled: boolean) =>
    service().internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled, reason: "test" });
  const paused = new Promise((resolve) => {
    client.on("commandSucceeded", function listen({ commandName }: CommandSucceededEvent): void {
      if (commandName !== "commitTransaction") return;
      client.off("commandSucceeded", listen);
      resolve(setWrites(false));
    });
  });
  const renaming = await service().internalCall("records.ingest.v1.IngestService/UpsertContacts", {
    account_id: accountId,
    contacts: named("Bo"),
  });
  await paused;
  const left = await client
    .db()
    .collection("contacts")
    .countDocuments({ account_id: new UUID(accountId), full_name: "Ann" });
  await setWrites(true);
  expect([renaming.status, renaming.body.message]).toEqual([
    503,
    // Not the reason of the switch, which says that nothing was done.
    "Writes are temporarily unavailable, but reads work. Try again later. A part of the request may be done.",
  ]);
  expect(renaming.body.details).toEqual(
    expect.arrayContaining([expect.objectContaining({ debug: expect.objectContaining({ reason: "UNAVAILABLE" }) })]),
  );
  expect(left).toBeGreaterThan(contacts.length / 2);
  expect(left).toBeLessThan(contacts.length);
});
