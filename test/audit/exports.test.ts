// The audit log of an account names the exports of its records by an operator.
import { createHash, randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { exportAll } from "../support/streams.ts";

const service = useService();
let account: TestAccount;

beforeAll(async () => {
  account = await service().account();
  await ingestInto(service(), account.id).contact({ full_name: "Ann Lee" });
});
afterEach(() => vi.restoreAllMocks());

const entries = (id: string) =>
  service().app.services.audit.list(UUID.createFromHexString(id), { limit: 10, offset: 0 }, undefined);

test("an export has an entry with the service token and the address of the caller [OPS-29]", async () => {
  expect(await exportAll(service(), account.id)).toHaveLength(1);
  const token = createHash("sha256").update(service().serviceToken).digest("hex").slice(0, 8);
  expect(await entries(account.id)).toMatchObject([
    {
      event: "records_exported",
      detail: `Exported by the operator of the service, with the service token ${token}`,
      person: null,
      address: "127.0.0.1",
    },
  ]);
});

test("exports nothing if the entry cannot be stored or the account does not exist [OPS-29]", async () => {
  await expect(exportAll(service(), randomUUID())).rejects.toMatchObject({
    rawMessage: expect.stringMatching(/^There is no such account\. Check the id/),
  });
  vi.spyOn(service().app.services.audit, "append").mockRejectedValue(new Error("no entry"));
  await expect(exportAll(service(), account.id)).rejects.toThrow();
  expect(await entries(account.id)).toHaveLength(1);
});
