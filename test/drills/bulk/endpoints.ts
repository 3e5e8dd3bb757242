// Measures the cost of every endpoint on an imported account. A large account must cost as much as a small one.
import type { MongoClient, UUID } from "mongodb";
import type { Examined } from "../../fixtures/databases/explain.ts";
import { explain } from "../../fixtures/databases/explain.ts";
import { listenToMongo } from "../../fixtures/databases/commands.ts";

/** The status of a response and the MongoDB commands that it took. */
export interface RequestCost {
  readonly status: number;
  readonly commands: readonly string[];
  readonly examined: readonly Examined[];
}

/** Requests every endpoint. `client` is the MongoDB client of the instance at `base`. */
export async function requestAll(
  client: MongoClient,
  base: string,
  key: string,
  accountId: UUID,
): Promise<Readonly<Record<string, RequestCost>>> {
  const db = client.db();
  const contact = String(
    (await db.collection("contacts").findOne({ account_id: accountId, external_id: named("c1") }))?._id,
  );
  const session = String(
    (await db.collection("sessions").findOne({ account_id: accountId, external_id: named("s0") }))?._id,
  );
  const send = (path: string, method = "GET", body?: unknown): Promise<Response> =>
    fetch(base + path, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  // The first read caches the key.
  await (await send("/v1/sessions?limit=1")).text();

  const reads: Readonly<Record<string, string>> = {
    health: "/v1/health",
    "a contact": `/v1/contacts/${contact}`,
    "contacts with a word common to all": "/v1/contacts?query=ann",
    "the list of sessions": "/v1/sessions?limit=20",
    "a page of sessions with a word common to all": "/v1/sessions?limit=20&offset=40&query=meeting",
    "the sessions of a month": "/v1/sessions?limit=5&from=2022-01-01&to=2022-01-31",
    "a session": `/v1/sessions/${session}`,
    "a transcript": `/v1/sessions/${session}/transcript`,
    "notes with a word common to all": "/v1/notes?limit=20&query=every",
    "a page of notes with a frequent word": "/v1/notes?limit=20&offset=40&query=tenth",
    "notes with a word in none": "/v1/notes?query=zzzzzz",
  };
  const responses: Record<string, RequestCost> = {};
  for (const [name, path] of Object.entries(reads)) responses[name] = await measured(() => send(path));
  responses["a contact created"] = await measured(() => send("/v1/contacts", "POST", { full_name: "Grace Okafor" }));
  responses["a contact changed"] = await measured(() =>
    send(`/v1/contacts/${contact}`, "PATCH", { phone: "+46 70 000" }),
  );
  responses["a note appended"] = await measured(() =>
    send(`/v1/contacts/${contact}/notes`, "POST", { content: "Call back." }),
  );
  return responses;

  async function measured(request: () => Promise<Response>): Promise<RequestCost> {
    const listening = listenToMongo(client);
    const response = await request();
    await response.text();
    const commands = listening.stop();
    const explained = commands
      .filter(({ name }) => name === "aggregate")
      .map(({ command }) => explain(client, command));
    return {
      status: response.status,
      commands: commands.map(({ label }) => label),
      examined: await Promise.all(explained),
    };
  }
}

function named(externalId: string) {
  return { $eq: externalId, $type: "string" as const };
}
