// What internal calls do with the records of an account is in the log of requests, and not in the audit log.
import { createHash, randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";
import { lineOf } from "../observability/request-lines.ts";

const service = useService();

const accountHeader = { "records-account-id": "account" };

test.each([
  ["records.v1.ContactService/SearchContacts", { query: "ann" }, accountHeader],
  ["records.v1.NoteService/SearchNotes", { query: "ann" }, accountHeader],
  ["records.v1.ContactService/CreateContact", { full_name: "Ann Lee" }, accountHeader],
  ["records.ingest.v1.IngestService/UpsertContacts", { contacts: [{ full_name: "Ann Lee" }] }, {}],
  ["records.admin.v1.AccountService/GetAccount", {}, {}],
])(
  "a call of %s has a log line with the service token and the account, and no audit entry [OPS-74]",
  async (rpc, message, headers) => {
    const { id: account } = await service().account();
    const id = randomUUID();
    const named = Object.fromEntries(Object.keys(headers).map((name) => [name, account]));
    const sent = named["records-account-id"] === undefined ? { ...message, account_id: account } : message;
    expect((await service().internalCall(rpc, sent, { ...named, "X-Request-Id": id })).status).toBe(200);
    expect(await lineOf(id, service())).toMatchObject({
      listener: "internal",
      rpc,
      account,
      service_token: createHash("sha256").update(service().serviceToken).digest("hex").slice(0, 8),
      address: "127.0.0.1",
    });
    const page = { limit: 10, offset: 0 };
    expect(await service().app.services.audit.list(UUID.createFromHexString(account), page, undefined)).toEqual([]);
  },
);
