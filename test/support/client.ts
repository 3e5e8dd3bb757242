// Setup for tests of the REST interface: a service, and accounts that call it.
import { afterAll, beforeAll } from "vitest";
import { RecordsClient } from "../../client/src/index.ts";
import type { Ingest } from "../fixtures/clients/ingest.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { RestResponse, TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

/** An account with its key and its calls. */
export interface Client extends TestAccount {
  /** Writes through the internal listener, like internal services. */
  readonly put: Ingest;
  /** The typed client. The methods here are for tests that inspect the response. */
  readonly records: RecordsClient;
  get(path: string): Promise<RestResponse>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<RestResponse>;
  patch(path: string, body: unknown): Promise<RestResponse>;
}

/** Starts a service before the tests of the file and stops it afterwards. */
export function useService(environment: Record<string, string> = {}): () => TestService {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(environment);
  });
  afterAll(async () => service.stop());
  return () => service;
}

export async function newClient(
  service: TestService,
  access: "read_write" | "read_only" = "read_write",
): Promise<Client> {
  const account = await service.account(access);
  const { key } = account;
  return {
    ...account,
    put: ingestInto(service, account.id),
    records: new RecordsClient({ baseUrl: service.base, apiKey: key }),
    get: (path) => service.rest(path, { key }),
    post: (path, body, headers = {}) => service.rest(path, { key, body, headers }),
    patch: (path, body) => service.rest(path, { method: "PATCH", key, body }),
  };
}

/** The number of documents in each collection. */
export async function counts(service: TestService): Promise<Record<string, number>> {
  const db = service.app.client.db();
  const names = ["contacts", "sessions", "notes", "transcripts", "idempotency", "accounts", "api_keys"];
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await db.collection(name).countDocuments()] as const)),
  );
}

export function ids(response: RestResponse): string[] {
  return (response.body.data as { id: string }[]).map(({ id }) => id);
}

export async function everyOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The ISO time this many hours from now. */
export function hoursFromNow(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}
