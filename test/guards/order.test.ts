// The order of the checks on every wire: of several things wrong with one request, the one that the contract puts first
// is reported.
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Fields, Outcome, Rpc, Wire } from "../fixtures/clients/wires.ts";
import { named, operations } from "../fixtures/clients/operations.ts";
import { endpoints, openWires } from "../fixtures/clients/wires.ts";
import { writesIn } from "../support/writes.ts";

let service: TestService;
let wires: readonly Wire[];
let close: () => void;
let owner: TestAccount;
let reader: TestAccount;
let archived: string;

beforeAll(async () => {
  service = await startService();
  ({ wires, close } = openWires(service));
  [owner, reader] = await Promise.all([service.account(), service.account("read_only")]);
  archived = await ingestInto(service, owner.id).contact({ full_name: "Old Oak", archived_at: "2026-01-02T03:04:05Z" });
});
afterAll(async () => {
  close();
  await service.stop();
});

async function set(rpc: "SetPublicInterface" | "SetWrites", enabled: boolean): Promise<void> {
  const { status } = await service.internalCall(`records.admin.v1.InterfaceService/${rpc}`, {
    enabled,
    reason: "test",
  });
  expect(status).toBe(200);
}

async function without<T>(rpc: "SetPublicInterface" | "SetWrites", work: () => Promise<T>): Promise<T> {
  await set(rpc, false);
  try {
    return await work();
  } finally {
    await set(rpc, true);
  }
}

const records = operations.map(({ rpc }) => rpc);
const writes = writesIn("read-only keys").map(({ path }) => named(path));
const valid = (rpc: Rpc): Fields => endpoints[rpc].request({ contact: randomUUID(), session: randomUUID() });
const invalid: Readonly<Partial<Record<Rpc, Fields>>> = {
  SearchContacts: { query: "a" },
  CreateContact: { full_name: "" },
  UpdateContact: { contact_id: "x", full_name: "" },
  AppendContactNote: { contact_id: "x", content: "" },
  GetContact: { contact_id: "x" },
  SearchNotes: { query: "a" },
};
/** An invalid request of a write: where none is chosen, with every field of a valid one empty. */
const flawed = (rpc: Rpc): Fields =>
  invalid[rpc] ?? Object.fromEntries(Object.keys(valid(rpc)).map((field) => [field, ""]));

const statuses: Readonly<Record<string, number>> = {
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  invalid_argument: 422,
  unavailable: 503,
  failed_precondition: 409,
};

/** Calls on every wire; each must fail with the code, and on the wires of rpc with the reason. */
async function expectFailure(
  rpc: Rpc,
  key: string | undefined,
  request: Fields,
  code: string,
  reason: string,
): Promise<void> {
  for (const wire of wires.filter((one) => one.serves(rpc))) {
    const outcome = await wire.call({ rpc, key, request });
    expect(summary(wire, outcome), `${wire.name} ${rpc}`).toEqual(
      wire.name === "rest" ? [statuses[code]] : [code, reason],
    );
  }
}

function summary(wire: Wire, { http, code, reason }: Outcome): unknown[] {
  return wire.name === "rest" ? [http] : [code, reason];
}

describe("while the public interface is disabled", () => {
  test("every record endpoint is 503 on every wire, before the key and the message are checked, and without Retry-After [ERR-11, HLT-03, WIR-08, RTE-04]", async () => {
    await without("SetPublicInterface", async () => {
      for (const rpc of records) {
        await expectFailure(rpc, owner.key, valid(rpc), "unavailable", "INTERFACE_DISABLED");
        await expectFailure(rpc, undefined, invalid[rpc] ?? valid(rpc), "unavailable", "INTERFACE_DISABLED");
      }
      const { status, headers, body } = await service.rest("/v1/sessions", { key: owner.key });
      expect([status, headers.has("Retry-After"), headers.get("RateLimit-Limit"), body.error.code]).toEqual([
        503,
        false,
        "100000",
        "503",
      ]);
      const connect = await fetch(`${service.base}/records.v1.SessionService/ListSessions`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
      expect([connect.status, connect.headers.has("Retry-After")]).toEqual([503, false]);
    });
  });

  test("an unknown path is still 404, another method 405 and OPTIONS 204 [ERR-11]", async () => {
    await without("SetPublicInterface", async () => {
      const { key } = owner;
      const responses = await Promise.all([
        service.rest("/v1/nothing", { key }),
        service.rest("/v1/contacts/", { key }),
        service.rest("/v1/contacts", { key, method: "DELETE" }),
        service.rest(`/v1/contacts/${randomUUID()}/notes`, { key }),
        service.rest("/v1/contacts", { method: "OPTIONS" }),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 405, 405, 204]);
    });
  });

  test("health is 200 and reports disabled, on every wire, with a key and without [HLT-03, HLT-05, ERR-11]", async () => {
    await without("SetPublicInterface", async () => {
      for (const wire of wires) {
        for (const key of [undefined, owner.key, "rec_wrong"]) {
          const { body } = await wire.call({ rpc: "CheckHealth", key, request: {} });
          expect(body, wire.name).toEqual({ data: { status: "disabled", version: "1.0.0" } });
        }
      }
      expect((await service.rest("/v1/health")).status).toBe(200);
    });
  });

  test("the internal listener and the documents continue [ERR-11]", async () => {
    await without("SetPublicInterface", async () => {
      const id = await ingestInto(service, owner.id).contact({ full_name: "Inside Out" });
      const { status } = await service.internalCall(
        "records.v1.ContactService/GetContact",
        { contact_id: id },
        { "records-account-id": owner.id },
      );
      expect(status).toBe(200);
      expect((await service.rest("/openapi.json")).status).toBe(200);
    });
  });
});

test("a missing, an unknown or a malformed key is 401 before the message is checked [ERR-12, AUT-01, WIR-05]", async () => {
  for (const rpc of records) {
    await expectFailure(rpc, undefined, invalid[rpc] ?? valid(rpc), "unauthenticated", "MISSING_KEY");
    await expectFailure(rpc, newSecret(), invalid[rpc] ?? valid(rpc), "unauthenticated", "INVALID_KEY");
    await expectFailure(rpc, "rec_wrong", valid(rpc), "unauthenticated", "INVALID_KEY");
  }
});

test("a write with a read-only key is 403 before the message, the record and the paused writes are checked [ERR-12, AUT-05, WIR-06]", async () => {
  for (const rpc of writes) {
    await expectFailure(rpc, reader.key, valid(rpc), "permission_denied", "ACCESS_DENIED");
    await expectFailure(rpc, reader.key, flawed(rpc), "permission_denied", "ACCESS_DENIED");
  }
  await without("SetWrites", async () => {
    for (const rpc of writes) {
      await expectFailure(rpc, reader.key, valid(rpc), "permission_denied", "ACCESS_DENIED");
      await expectFailure(rpc, undefined, valid(rpc), "unauthenticated", "MISSING_KEY");
    }
  });
});

test("a revoked key that the instance remembers is 401 before its right to write and the paused writes are checked [ERR-12, AUT-01]", async () => {
  const expectInvalid = async (access: "read_only" | "read_write"): Promise<void> => {
    for (const rpc of writes) {
      const { id, key } = await service.account(access);
      expect((await service.rest("/v1/sessions", { key })).status).toBe(200);
      await service.app.services.apiKeys.revoke(new UUID(id));
      await expectFailure(rpc, key, valid(rpc), "unauthenticated", "INVALID_KEY");
    }
  };
  await expectInvalid("read_only");
  await without("SetWrites", () => expectInvalid("read_write"));
});

test("while writes are paused each write is 503 on every wire, before 422 and 404; reads and accounts continue [ERR-13, ERR-16, WIR-08, RTE-04]", async () => {
  await without("SetWrites", async () => {
    for (const rpc of writes) {
      await expectFailure(rpc, owner.key, valid(rpc), "unavailable", "WRITES_PAUSED");
      await expectFailure(rpc, owner.key, flawed(rpc), "unavailable", "WRITES_PAUSED");
    }
    const unknown = { contact_id: archived, full_name: "Bo" };
    await expectFailure("UpdateContact", owner.key, unknown, "unavailable", "WRITES_PAUSED");
    const post = await service.rest("/v1/contacts", { key: owner.key, body: { full_name: "Bo" } });
    expect([post.status, post.headers.has("Retry-After")]).toEqual([503, false]);
    for (const rpc of ["SearchContacts", "ListSessions", "SearchNotes"] as const) {
      for (const wire of wires)
        expect((await wire.call({ rpc, key: owner.key, request: valid(rpc) })).body, rpc).toBeDefined();
    }
    expect((await service.rest("/v1/health")).body.data.status).toBe("ok");
    const account = { email: `${randomUUID()}@example.com` };
    expect((await service.internalCall("records.admin.v1.AccountService/CreateAccount", account)).status).toBe(200);
  });
});

test("422 precedes 404 of the record, which precedes 409 [ERR-13, WIR-06, WIR-07]", async () => {
  const unknown = randomUUID();
  for (const [rpc, request, code, reason] of [
    ["UpdateContact", { contact_id: unknown, full_name: "" }, "invalid_argument", "INVALID_REQUEST"],
    ["UpdateContact", { contact_id: archived, full_name: "" }, "invalid_argument", "INVALID_REQUEST"],
    ["UpdateContact", { contact_id: unknown, full_name: "Ann" }, "not_found", "NOT_FOUND"],
    ["UpdateContact", { contact_id: archived, full_name: "Ann" }, "failed_precondition", "CONTACT_ARCHIVED"],
    ["AppendContactNote", { contact_id: archived, content: "" }, "invalid_argument", "INVALID_REQUEST"],
    ["AppendContactNote", { contact_id: archived, content: "Hello." }, "failed_precondition", "CONTACT_ARCHIVED"],
  ] as const)
    await expectFailure(rpc, owner.key, request, code, reason);
});
