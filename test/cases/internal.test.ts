// The internal listener: who may call it, and on whose behalf.
import { expect, test } from "vitest";
import { counts, useService } from "../support/client.ts";
import { newOwner } from "../support/every.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();

const operatorRpcs = [
  "records.ingest.v1.IngestService/UpsertContacts",
  "records.ingest.v1.IngestService/UpsertSessions",
  "records.ingest.v1.IngestService/PutTranscripts",
  "records.ingest.v1.IngestService/UpsertSessionNotes",
  "records.ingest.v1.IngestService/UpsertContactNotes",
  "records.ingest.v1.IngestService/ArchiveContacts",
  "records.ingest.v1.IngestService/RestoreContacts",
  "records.ingest.v1.IngestService/DeleteRecords",
  "records.admin.v1.AccountService/CreateAccount",
  "records.admin.v1.AccountService/GetAccount",
  "records.admin.v1.AccountService/ListAccounts",
  "records.admin.v1.AccountService/SetBetaEnrolment",
  "records.admin.v1.InterfaceService/GetState",
  "records.admin.v1.InterfaceService/SetPublicInterface",
  "records.admin.v1.InterfaceService/SetWrites",
];
/** Each with a message that is right. */
const accountCalls: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "records.v1.ContactService/SearchContacts": { query: "ab" },
  "records.v1.ContactService/CreateContact": { full_name: "Bo" },
  "records.v1.ContactService/GetContact": { contact_id: randomId() },
  "records.v1.ContactService/UpdateContact": { contact_id: randomId(), full_name: "Bo" },
  "records.v1.ContactService/AppendContactNote": { contact_id: randomId(), content: "c" },
  "records.v1.SessionService/ListSessions": {},
  "records.v1.SessionService/GetSession": { session_id: randomId() },
  "records.v1.SessionService/GetSessionTranscript": { session_id: randomId() },
  "records.v1.NoteService/SearchNotes": { query: "ab" },
};

test("every internal rpc without the service token, with a wrong token or with an API key is unauthenticated [ADM-01, ADM-02]", async () => {
  const owner = await newOwner(service());
  const before = await counts(service());
  const state = (await service().internalCall("records.admin.v1.InterfaceService/GetState", {})).text;
  for (const rpc of [...operatorRpcs, ...Object.keys(accountCalls)]) {
    for (const Authorization of [
      "",
      `Bearer ${owner.key}`,
      `Bearer ${service().serviceToken}x`,
      `Bearer ${service().serviceToken.slice(1)}`,
      `Basic ${service().serviceToken}`,
      service().serviceToken,
    ]) {
      const response = await service().internalCall(rpc, {}, { Authorization, "records-account-id": owner.id });
      expect([response.status, response.body.code], `${rpc} ${Authorization}`).toEqual([401, "unauthenticated"]);
    }
    const passed = await service().internalCall(
      rpc,
      { contact_id: "x", session_id: "x", account_id: "x", enabled: true },
      { "records-account-id": owner.id },
    );
    expect(passed.body.code, rpc).not.toBe("unauthenticated");
    expect(passed.body.code, rpc).not.toBe("unimplemented");
  }
  expect(await counts(service())).toEqual(before);
  expect(state).toContain("enabled");
});

test("a records.v1 call without records-account-id is invalid_argument, and with an unknown account not_found [ADM-01]", async () => {
  for (const [rpc, message] of Object.entries(accountCalls)) {
    for (const [headers, code] of [
      [{}, "invalid_argument"],
      [{ "records-account-id": "x" }, "invalid_argument"],
      [{ "records-account-id": "" }, "invalid_argument"],
      [{ "records-account-id": randomId() }, "not_found"],
    ] as const) {
      const response = await service().internalCall(rpc, message, headers);
      expect(response.body.code, `${rpc} ${JSON.stringify(headers)}`).toBe(code);
    }
  }
});

test("an internal call writes into the account that it names, however many keys the account has, and is not throttled [ADM-01, ISO-08]", async () => {
  const owner = await newOwner(service(), "read_only");
  const created = await service().internalCall(
    "records.v1.ContactService/CreateContact",
    { full_name: "Inside" },
    { "records-account-id": owner.id },
  );
  expect(created.status).toBe(200);
  expect((await owner.get(`/v1/contacts/${created.body.contact.id}`)).body.data.full_name).toBe("Inside");
});
