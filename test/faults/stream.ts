// A stream of writes with keys from clients that retry until they are heard, and the check of what the database holds.
import type { Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { setTimeout as sleep } from "node:timers/promises";

/** A write that was acknowledged to its client. */
export interface Acknowledged {
  readonly name: string;
  readonly id: string;
  readonly collection: "contacts" | "notes";
}

/** What came of a stream. */
export interface StreamResult {
  readonly acknowledged: readonly Acknowledged[];
  /** Requests that were answered otherwise than by 201, or not at all. */
  readonly retries: number;
  /** Answers that were a replay: the write had happened, unheard. */
  readonly replays: number;
  /** Milliseconds of the longest pause between two acknowledgements. */
  readonly longestPauseMs: number;
}

/** What the database says of a stream; all but the first are 0 when every write happened exactly once. */
export interface StreamVerdict {
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  readonly unasked: number;
}

/** How a stream is run. */
export interface StreamOptions {
  /** The instances as they are now: a client asks any of them. */
  readonly bases: () => readonly string[];
  readonly key: string;
  readonly clients: number;
  /** The stream ends when this does; what is under way is retried until it is heard. */
  readonly during: Promise<unknown>;
  /** Hears of every write that is acknowledged. */
  readonly onAcknowledged?: () => void;
}

const retryPauseMs = 50;
const givesUpAfterMs = 90_000;

/** Runs clients that create contacts, and after every second one append a note to it, each write with a key of its own. */
export async function runStream({ bases, key, clients, during, onAcknowledged }: StreamOptions): Promise<StreamResult> {
  const acknowledged: Acknowledged[] = [];
  let [retries, replays, lastAt, longestPauseMs] = [0, 0, performance.now(), 0];
  let ended = false;
  const end = during.finally(() => (ended = true));

  async function insist(path: string, name: string, body: unknown): Promise<string> {
    const until = performance.now() + givesUpAfterMs;
    for (let attempt = 0; performance.now() < until; attempt++) {
      const among = bases();
      const base = among[(attempt + name.length) % among.length] ?? "";
      const answer = await post(base + path, key, name, body);
      if (answer !== undefined) {
        if (answer.replayed) replays += 1;
        longestPauseMs = Math.max(longestPauseMs, performance.now() - lastAt);
        lastAt = performance.now();
        acknowledged.push({ name, id: answer.id, collection: path === "/v1/contacts" ? "contacts" : "notes" });
        onAcknowledged?.();
        return answer.id;
      }
      retries += 1;
      await sleep(retryPauseMs);
    }
    throw new Error(`${name} was not acknowledged within ${givesUpAfterMs / 1000} seconds`);
  }

  async function client(number: number): Promise<void> {
    for (let at = 0; !ended; at++) {
      const name = `c${number}-${at}`;
      const id = await insist("/v1/contacts", name, { full_name: name, email: `${name}@example.com` });
      if (at % 2 === 1) await insist(`/v1/contacts/${id}/notes`, `n${number}-${at}`, { content: `n${number}-${at}` });
    }
  }

  await Promise.all([end, ...Array.from({ length: clients }, (_, number) => client(number))]);
  return { acknowledged, retries, replays, longestPauseMs };
}

/** Undefined where the client has to try again. A refusal is no such case: it would be a wrong answer. */
async function post(url: string, key: string, idempotencyKey: string, body: unknown): Promise<{ id: string; replayed: boolean } | undefined> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
    text = await response.text();
  } catch {
    return undefined;
  }
  if (response.status === 503) return undefined;
  if (response.status !== 201) throw new Error(`${idempotencyKey}: ${response.status} ${text}`);
  const { data } = JSON.parse(text) as { data: { id: string } };
  return { id: data.id, replayed: response.headers.get("idempotent-replayed") === "true" };
}

/** Compares what was acknowledged with what a majority of the database holds of the account. */
export async function judge(client: MongoClient, accountId: string, acknowledged: readonly Acknowledged[]): Promise<StreamVerdict> {
  const held = { contacts: await namesOf(client, accountId, "contacts", "full_name"), notes: await namesOf(client, accountId, "notes", "content") };
  const lost = acknowledged.filter(({ name, id, collection }) => held[collection].get(name)?.includes(id) !== true);
  const asked = new Set(acknowledged.map(({ name }) => name));
  const all = [...held.contacts, ...held.notes];
  return {
    acknowledged: acknowledged.length,
    lost: lost.length,
    doubled: all.filter(([, ids]) => ids.length > 1).length,
    unasked: all.filter(([name]) => !asked.has(name)).length,
  };
}

async function namesOf(client: MongoClient, accountId: string, collection: string, field: string): Promise<Map<string, string[]>> {
  const options = { readConcern: { level: "majority" as const }, projection: { [field]: 1 } };
  const names = new Map<string, string[]>();
  for await (const document of client.db().collection<Document & { _id: UUID }>(collection).find({ account_id: new UUID(accountId) }, options)) {
    const name = String(document[field]);
    names.set(name, [...(names.get(name) ?? []), document._id.toHexString()]);
  }
  return names;
}
