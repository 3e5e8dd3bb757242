// Accounts to erase, erasures at each of their stages, and what is left of an account.
import { BSON, UUID } from "mongodb";
import { expect, vi } from "vitest";
import type { RestResponse, TestService } from "../fixtures/service/service.ts";
import type { Client } from "../support/client.ts";
import { useService } from "../support/client.ts";

/** One of everything that an account can own. */
export async function fill(client: Client): Promise<void> {
  const contact = await client.put.contact({ full_name: "Ann Lee", email: "ann@example.com", external_id: "c-1" });
  const session = await client.put.session({ title: "Budget", contact_id: contact, external_id: "s-1" });
  await client.put.transcript({ session_id: session, transcript: "Hello." });
  await client.put.sessionNotes({ session_id: session, content: "A note", type: "SESSION_NOTE_TYPE_USER_MANUAL" });
  await client.put.contactNotes({ contact_id: contact, content: "Budget talk", source: "import" });
  const created = await client.post("/v1/contacts", { full_name: "Bo" }, { "Idempotency-Key": "once" });
  expect(created.status).toBe(201);
}

/** Where an erasure looks, in its order. */
export const places = [
  "idempotency",
  "notes",
  "transcripts",
  "sessions",
  "contacts",
  "api_keys",
  "audit_log",
  "imports",
  "request_counts",
  "accounts",
  "restores",
  "redis",
];
/** The response of a complete erasure of an account without an identity; protobuf's JSON omits zeros. */
export const clean = {
  erased: true,
  begunAt: expect.stringMatching(/^20\d\d-.*Z$/),
  token: "e12f39be",
  places: places.map((place) => ({ place })),
};
/** The same after something was deleted. */
export const cleaned = { ...clean, places: places.map((place) => expect.objectContaining({ place })) };
/** What is left, by collection. */
export const leftOf = ({ places: seen }: { places: { place: string; left?: string }[] }) =>
  Object.fromEntries(seen.flatMap(({ place, left }) => (left === undefined ? [] : [[place, Number(left)]])));

/** A service whose accounts the tests of a file erase. */
export interface Erasing {
  service(): TestService;
  admin(rpc: string, message: unknown): Promise<RestResponse>;
  sweptElsewhere(id: string): Promise<{ letGo(): Promise<void> }>;
  letFinish(id: string): Promise<void>;
  traces(accountId: string): Promise<string[]>;
}

/** Starts the service before the tests of the file and stops it after. */
export function useErasing(): Erasing {
  const service = useService();
  const admin = (rpc: string, message: unknown) =>
    service().internalCall(`records.admin.v1.AccountService/${rpc}`, message);

  /** An erasure whose sweeper is another instance, until `letGo`. */
  async function sweptElsewhere(id: string): Promise<{ letGo(): Promise<void> }> {
    const db = service().app.client.db();
    const _id = UUID.createFromHexString(id) as never;
    await db.collection("accounts").deleteOne({ _id });
    await db.collection("erasures").insertOne({
      _id,
      begun_at: new Date(),
      lease: { owner: new UUID(), expires_at: new Date(Date.now() + 600_000) },
    });
    return {
      letGo: async () =>
        void (await db.collection("erasures").updateOne({ _id }, { $set: { "lease.expires_at": new Date(0) } })),
    };
  }

  /** Dates the erasure back, so that requests that were admitted before it have ended. */
  async function letFinish(id: string): Promise<void> {
    const erasures = service().app.client.db().collection("erasures");
    const _id = UUID.createFromHexString(id) as never;
    await erasures.updateOne({ _id }, { $set: { begun_at: new Date(0) } });
    // Not with `expect.poll`, which would belong to any of the tests that run at once.
    await vi.waitFor(async () => expect((await erasures.findOne({ _id }))?.["finished_at"]).toBeInstanceOf(Date), {
      timeout: 30_000,
      interval: 200,
    });
    // The erasure forgets whose account it was, and keeps who requested it.
    const kept = Object.keys((await erasures.findOne({ _id })) ?? {}).filter(
      (name) => name !== "deleted" && name !== "requested",
    );
    expect(kept.sort()).toEqual(["_id", "begun_at", "finished_at"]);
  }

  /** The collections in which something mentions the account. */
  async function traces(accountId: string): Promise<string[]> {
    await service().app.services.usage.flush();
    const db = service().app.client.db();
    const binary = BSON.EJSON.stringify(UUID.createFromHexString(accountId));
    const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    const found = await Promise.all(
      names.map(async (name) =>
        BSON.EJSON.stringify(await db.collection(name).find().toArray()).includes(binary) ? [name] : [],
      ),
    );
    return found.flat().sort();
  }

  return { service, admin, sweptElsewhere, letFinish, traces };
}
