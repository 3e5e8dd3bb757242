// `records account` and `records interface`: the real program, and what it changes in the service.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { expect, test, vi } from "vitest";
import { AccountService } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { counts, newClient, useService } from "../support/client.ts";
import { cli, cliJson } from "./cli.ts";

// A start of the program takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const id = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const digest = expect.stringMatching(/^[0-9a-f]{8}$/);
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("an account is created, found by its id and by its email in any case, enrolled, withdrawn and linked [OPS-04]", async () => {
  const email = `Ann.${randomUUID()}@Example.com`;
  const created = await cliJson(service(), ["account", "create", email]);
  expect(created).toEqual({ id, email, beta_enrolled: false, created_at: instant, identities: [], suspension: null });
  expect(await cliJson(service(), ["account", "show", created.id.toUpperCase()])).toEqual(created);
  expect(await cliJson(service(), ["account", "show", email.toLowerCase()])).toEqual(created);
  expect(await cliJson(service(), ["account", "enrol", email])).toEqual({ ...created, beta_enrolled: true });
  expect(await cliJson(service(), ["account", "unenrol", created.id])).toEqual(created);
  const linked = await cliJson(service(), [
    "account",
    "link",
    email,
    "--issuer",
    "https://id.example.com",
    "--subject",
    `s-${created.id}`,
  ]);
  expect(linked).toEqual({
    ...created,
    identities: [{ issuer: "https://id.example.com", subject: `s-${created.id}` }],
  });
  expect((await cliJson(service(), ["account", "list"])).accounts).toContainEqual(linked);
  const shown = await cli(service(), ["account", "show", email]);
  expect(shown.stdout).toContain(`id        ${created.id}\nemail     ${email}\nbeta      not enrolled\n`);
  const listed = (await cli(service(), ["account", "list"])).stdout;
  expect(listed).toContain(`${created.id}\t${email}\t-\t${created.created_at}\t1\n`);
});

test("--enrol creates an enrolled account; the same email again, or an invalid one, is rejected with a reason", async () => {
  const email = `${randomUUID()}@example.com`;
  expect((await cliJson(service(), ["account", "create", email, "--enrol"])).beta_enrolled).toBe(true);
  expect(await cli(service(), ["account", "create", email])).toEqual({
    code: 1,
    stdout: "",
    stderr: "records: email: another account already uses it. Use another email.\n",
  });
  const { code, stderr } = await cli(service(), ["account", "create", "ann", "--json"]);
  expect([code, JSON.parse(stderr)]).toEqual([
    1,
    {
      error: {
        code: "invalid_argument",
        message: "email: must be an email address such as name@example.com",
        exit_code: 1,
      },
    },
  ]);
});

test("the error names an account that does not exist, and rejects what is neither an id nor an email", async () => {
  for (const name of ["nobody@example.com", randomUUID()]) {
    const { code, stderr } = await cli(service(), ["account", "show", name]);
    expect([code, stderr]).toEqual([
      1,
      `records: There is no account "${name}". To see all accounts, run records account list.\n`,
    ]);
  }
  expect((await cli(service(), ["account", "show", "ann"])).code).toBe(2);
});

test("delete requires a confirmation: without a terminal and --yes it fails and keeps the account; with --yes it erases everything [OPS-04]", async () => {
  const { id: accountId } = await newClient(service());
  await service().internalCall("records.ingest.v1.IngestService/UpsertContacts", {
    account_id: accountId,
    contacts: [{ full_name: "Ann" }, { full_name: "Bo" }],
  });
  const { contacts: before = 0 } = await counts(service());
  const { email } = await cliJson(service(), ["account", "show", accountId]);
  const rejected = await cli(service(), ["account", "delete", email]);
  expect([rejected.code, rejected.stdout]).toEqual([2, ""]);
  expect(rejected.stderr).toContain("--yes");
  expect((await counts(service()))["contacts"]).toBe(before);

  const deleted = await cliJson(service(), ["account", "delete", email, "--yes", "--reason", "the owner asked"]);
  expect(deleted).toMatchObject({
    account_id: accountId,
    email,
    erased: true,
    reason: "the owner asked",
    token: digest,
  });
  expect(deleted.places.map(({ place }: { place: string }) => place)).toContain("contacts");
  expect(deleted.places.every(({ left }: { left: number }) => left === 0)).toBe(true);
  expect((await counts(service()))["contacts"]).toBe(before - 2);
  expect((await cli(service(), ["account", "show", accountId])).code).toBe(1);
  // A later request shows the proof again.
  const again = await cli(service(), ["account", "delete", email, "--yes"]);
  expect([again.code, again.stderr]).toEqual([
    1,
    `records: There is no account "${email}". If it is deleted already, its email is erased too: to check its erasure again, name the id that the account had.\n`,
  ]);
  expect(await cliJson(service(), ["account", "delete", accountId, "--yes"])).toMatchObject({
    account_id: accountId,
    email: null,
    erased: true,
  });
});

test("waits for an erasure that takes longer than a call, reports its progress, and repeats a call that was not served [OPS-32]", async () => {
  let calls = 0;
  const routes = (router: ConnectRouter): void => {
    router.rpc(AccountService.method.getAccount, ({ accountId }) => ({
      account: { id: accountId, email: "slow@example.com" },
    }));
    router.rpc(AccountService.method.deleteAccount, () => {
      calls++;
      if (calls === 2) throw new ConnectError("away", Code.Unavailable);
      return {
        erased: calls === 4,
        places: [{ place: "notes", left: calls === 4 ? 0n : 10_000n, deleted: BigInt(calls) * 1_000n }],
      };
    });
  };
  const server = createServer(connectNodeAdapter({ routes }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  const { code, stdout, stderr } = await cli(service(), ["account", "delete", randomUUID(), "--yes"], {
    environment: { RECORDS_INTERNAL_URL: `http://127.0.0.1:${address.port}` },
  });
  server.close();
  expect([code, calls]).toEqual([0, 4]);
  expect(stderr).toContain("Erasing: 1,000 deleted; left: notes 10,000 or more\n");
  expect(stderr).toContain("Erasing: 3,000 deleted; left: notes 10,000 or more\n");
  expect(stdout).toContain("notes\t0");
});

test("suspend, resume, end-sessions and key revoke require a reason, take effect, and report the result [OPS-37]", async () => {
  const client = await newClient(service());
  const status = async () => (await client.get("/v1/contacts?query=ann")).status;
  expect((await cli(service(), ["account", "suspend", client.id])).code).toBe(2);
  expect(await status()).toBe(200);
  const suspended = await cliJson(service(), ["account", "suspend", client.id, "--reason", "key leaked"]);
  expect(suspended).toMatchObject({
    id: client.id,
    suspension: { reason: "key leaked", suspended_at: instant, token: digest },
  });
  expect(await status()).toBe(403);
  expect((await cli(service(), ["account", "show", client.id])).stdout).toMatch(/^suspended {2}\S+ \(key leaked\)$/m);
  expect((await cliJson(service(), ["account", "resume", client.id, "--reason", "false alarm"])).suspension).toBe(null);
  expect(await status()).toBe(200);

  expect(await cliJson(service(), ["account", "end-sessions", client.id, "--reason", "lost laptop"])).toEqual({
    account_id: client.id,
    owners: 0,
    sessions: 0,
  });
  const revoked = await cliJson(service(), ["key", "revoke", client.key.slice(0, 8), "--reason", "in a public log"]);
  expect(revoked).toEqual({ id, prefix: client.key.slice(0, 8), account_id: client.id, revoked_at: instant });
  expect(await status()).toBe(401);
  // Again by its id: nothing changes.
  expect(await cliJson(service(), ["key", "revoke", revoked.id, "--reason", "again"])).toEqual(revoked);
  const { code, stderr } = await cli(service(), ["key", "revoke", "rec_0000", "--reason", "none"]);
  expect([code, stderr]).toEqual([
    1,
    "records: There is no such API key. Check its id or its first 8 characters. Revoked keys are deleted after 30 days.\n",
  ]);
  expect((await cli(service(), ["key", "revoke", client.key, "--reason", "whole"])).stderr).toContain(
    "must be the id of an API key, or its first 8 characters",
  );
});

test("interface off and writes off require --yes, take effect on the service, carry their reason, and are logged [OPS-04]", async () => {
  const client = await newClient(service());
  const rejected = await cli(service(), ["interface", "off", "--reason", "drill"]);
  expect(rejected.code).toBe(2);
  expect((await client.get("/v1/contacts?query=ann")).status).toBe(200);

  const off = await cliJson(service(), ["interface", "off", "--reason", "drill", "--yes"]);
  expect(off).toEqual({
    public_interface: { enabled: false, reason: "drill", changed_at: instant },
    writes: { enabled: true, reason: expect.any(String), changed_at: null },
  });
  expect((await client.get("/v1/contacts?query=ann")).status).toBe(503);
  expect((await cliJson(service(), ["interface", "on"])).public_interface.enabled).toBe(true);
  expect((await client.get("/v1/contacts?query=ann")).status).toBe(200);

  expect((await cli(service(), ["interface", "writes", "off"])).code).toBe(2);
  expect(
    (await cliJson(service(), ["interface", "writes", "off", "--reason", "backup", "--yes"])).writes,
  ).toMatchObject({ enabled: false, reason: "backup" });
  expect((await client.post("/v1/contacts", { full_name: "Ann" })).status).toBe(503);
  expect((await cli(service(), ["interface", "writes", "on", "--reason", "done"])).stdout).toMatch(
    /^writes +on since \S+ \(done\)$/m,
  );
  expect((await client.post("/v1/contacts", { full_name: "Ann" })).status).toBe(201);

  const { changes } = await cliJson(service(), ["interface", "log", "--limit", "4"]);
  expect(
    changes.map((one: { switch: string; enabled: boolean; reason: string }) => [one.switch, one.enabled, one.reason]),
  ).toEqual([
    ["writes", true, "done"],
    ["writes", false, "backup"],
    ["public_interface", true, ""],
    ["public_interface", false, "drill"],
  ]);
  expect(Object.keys(changes[0])).toEqual([
    "switch",
    "enabled",
    "reason",
    "changed_at",
    "address",
    "token",
    "request_id",
  ]);
  expect((await cli(service(), ["interface", "log", "--limit", "0"])).code).toBe(2);
});
