// A backup whose account has a new id and the API key of an account that was deleted here, while an instance knows the
// key.
import { UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { useService } from "../support/client.ts";
import { fillAccount, renamed, restore, storedOf } from "./backed-up.ts";

vi.setConfig({ testTimeout: 60_000 });

const service = useService();

test("a key that a restore gives to another account reads and writes the records of that account only [OPS-62]", async () => {
  const first = await fillAccount(service());
  const stored = await storedOf(service(), first.id);
  const [key] = stored.flatMap(([name, document]) => (name === "api_keys" ? [document] : []));
  const second = renamed(stored);
  const documents = second.documents.map(([name, document]) =>
    name === "api_keys"
      ? ([name, { ...document, _id: key?.["_id"] as unknown }] as const)
      : ([name, document] as const),
  );
  const read = () => first.get("/v1/contacts?query=ann");
  expect(await read()).toMatchObject({ status: 200 });
  await service().internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: first.id });
  await vi.waitFor(async () => expect(await storedOf(service(), first.id)).toEqual([]), 10_000);
  expect(await restore(service(), second.id, documents)).toMatchObject({ status: 200 });
  await first.post("/v1/contacts", { full_name: "Bob Ray" });
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 200 }), 10_000);
  expect((await read()).body).toMatchObject({ data: [{ full_name: "Ann Lee" }] });
  const account_id = UUID.createFromHexString(first.id);
  expect(await service().app.client.db().collection("contacts").countDocuments({ account_id })).toBe(0);
});
