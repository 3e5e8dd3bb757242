// Set-up for tests of an assistant's rights: the access policy of assistants, a request that has entered
// with a token, and the writes that MongoDB gets.
import { UUID } from "mongodb";
import { afterAll, beforeAll } from "vitest";
import { Failure } from "../../../src/call/errors.ts";
import { createAssistantAccess } from "../../../src/guards/assistant.ts";
import { createKnownBuckets } from "../../../src/guards/known-buckets.ts";
import { createRecognizer, lookUpSize } from "../../../src/guards/credentials.ts";
import { unlimited } from "../../../src/guards/capacity.ts";
import type { AssistantAccess } from "../../../src/guards/assistant.ts";
import type { Inbound } from "../../../src/call/dispatch.ts";
import { listenToMongo } from "../../fixtures/databases/commands.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";

/** An account with its records, and an assistant that reads it. */
export interface Assistant {
  readonly service: TestService;
  readonly accountId: UUID;
  readonly contact: UUID;
  readonly session: UUID;
  /** To be archived, and to be restored. */
  readonly active: string;
  readonly archived: string;
  /** To be deleted. */
  readonly unwanted: string;
  readonly access: AssistantAccess;
  readonly inbound: Inbound;
}

/** Starts a service, and lets the request in, before the tests of the file. */
export function useAssistant(): () => Assistant {
  let assistant: Assistant;
  beforeAll(async () => {
    const service = await startService();
    const account = await service.account();
    const accountId = UUID.createFromHexString(account.id);
    const put = ingestInto(service, account.id);
    const contact = UUID.createFromHexString(await put.contact({ full_name: "Ann Lee", email: "ann@example.com" }));
    const names = ["Active", "Archived", "Unwanted"];
    const [active = "", archived = "", unwanted = ""] = await put.contacts(
      ...names.map((full_name) => ({ full_name })),
    );
    await put.archive(archived);
    const session = UUID.createFromHexString(await put.session({ title: "Budget", contact_id: contact.toHexString() }));
    await put.contactNotes({ contact_id: contact.toHexString(), content: "before", source: "import" });
    const user = { issuer: "https://id.example", subject: "ann", name: "ann@example.com" };
    const facts = { ...user, accountId };
    const access = createAssistantAccess({
      throttle: () => Promise.resolve(),
      tokens: { identify: () => Promise.resolve(facts) },
      recognizers: (bucketOf) =>
        createRecognizer(
          {
            throttle: () => Promise.resolve(),
            lookUps: createKnownBuckets(lookUpSize),
            capacity: unlimited,
            onRejectedLookUp: () => undefined,
          },
          bucketOf,
        ),
      capacity: unlimited,
      switches: () => ({ publicInterface: true, writes: true }),
      requireFreshSwitches: () => undefined,
      freshSwitches: () => undefined,
    });
    const inbound: Inbound = {
      header: (name) => (name === "authorization" ? "Bearer a-token" : undefined),
      address: "192.0.2.1",
      requestId: "1",
      arrivedAt: performance.now(),
    };
    await access.enter(inbound);
    assistant = { service, accountId, contact, session, active, archived, unwanted, access, inbound };
  });
  afterAll(() => assistant.service.stop());
  return () => assistant;
}

const writing = new Set([
  "insert",
  "update",
  "delete",
  "findAndModify",
  "bulkWrite",
  "create",
  "drop",
  "renameCollection",
  "createIndexes",
]);
/** The writes that MongoDB gets during the work; an aggregation that ends in a collection is one as well. */
export async function writesDuring(
  { service }: Assistant,
  work: () => Promise<unknown>,
): Promise<{ writes: string[]; outcome: unknown }> {
  const monitor = listenToMongo(service.app.client);
  const outcome = await work().catch((error: unknown) => error);
  const commands = monitor.stop();
  return {
    writes: commands
      .filter(
        ({ name, command }) => writing.has(name) || /"\$(out|merge)"/.test(JSON.stringify(command["pipeline"] ?? [])),
      )
      .map(({ label }) => label),
    outcome,
  };
}

/** The outcome: the status of the failure, of the call or of its item, or "done". */
export function statusOf(outcome: unknown): number | string {
  const { failure } = (Array.isArray(outcome) ? (outcome as { failure?: unknown }[])[0] : undefined) ?? {
    failure: outcome,
  };
  if (failure instanceof Failure) return failure.kind.http;
  return failure instanceof Error ? failure.message : "done";
}
