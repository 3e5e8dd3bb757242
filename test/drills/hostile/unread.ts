// Clients that do not read their responses: large ones within an account's limit, and failures, which have no limit.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:http2";
import type { Ingest } from "../../fixtures/clients/ingest.ts";
import { maxNoteLength } from "./largest.ts";
import { residentMb } from "./vitals.ts";

/** 3.6 MB, below the size of a huge response, which takes a slot. */
const contacts = 2;
const notes = 45;
const word = "unread";
/** An instance buffers 64 MB for a connection. */
const ofConnection = 15;

/** Failing requests cost the client nothing, and long headers cost the instance the most. */
const longHeaders = { ":path": "/v1/contacts", "x-long": "a".repeat(60_000) };
const ofOne = 100;
const heldMs = 1_500;
const patienceMs = 15_000;

/** More streams than an instance keeps open. */
export const maxOpen = 2_100;

/**
 * Opens connections full of failing requests, reads nothing, and closes all at once. Resolves with the number of
 * streams that the instance kept open.
 */
export async function leaveFailuresUnread(base: string, connections: number): Promise<number> {
  const sessions: ClientHttp2Session[] = [];
  let open = 0;
  try {
    for (let at = 0; at < connections; at++) {
      const session = connect(base, { settings: { initialWindowSize: 0 } });
      sessions.push(session.on("error", () => undefined));
      await once(session, "remoteSettings");
      const headers = at % 2 === 0 ? longHeaders : { ":path": longHeaders[":path"] };
      for (let stream = 0; stream < ofOne; stream++) {
        open += 1;
        session
          .request(headers)
          .on("error", () => undefined)
          .once("close", () => (open -= 1));
      }
    }
    // On a busy machine, the last resets take a while to arrive.
    for (let waited = 0; waited < heldMs || (open > maxOpen && waited < patienceMs); waited += 100) await sleep(100);
    return open;
  } finally {
    for (const session of sessions) session.destroy();
  }
}

/** The result of unread responses. */
export interface Held {
  readonly statuses: Readonly<Record<number, number>>;
  /** The memory growth of the instance in megabytes. */
  readonly growth: number;
}

/** Fills an account with records for large responses. */
export async function fillWithUnread(put: Ingest): Promise<void> {
  const named = Array.from({ length: contacts }, (_, number) => ({ full_name: `${word} ${number}` }));
  for (const contact_id of await put.contacts(...named)) {
    const own = Array.from({ length: notes }, () => ({ ...maxNoteLength, contact_id, source: "app" }));
    for (let from = 0; from < notes; from += 15) await put.contactNotes(...own.slice(from, from + 15));
  }
}

/** Requests `count` responses in sequence and reads only their headers. */
export async function holdUnread(base: string, pid: number, key: string, count: number): Promise<Held> {
  const before = residentMb(pid);
  const statuses: Record<number, number> = {};
  const sessions: ClientHttp2Session[] = [];
  for (let at = 0; at < count; at++) {
    if (at % ofConnection === 0) {
      const session = connect(base, { settings: { initialWindowSize: 0 } });
      session.on("error", () => undefined);
      sessions.push(session);
    }
    const headers = { ":path": `/v1/contacts?query=${word}`, authorization: `Bearer ${key}` };
    const stream = sessions.at(-1)?.request(headers);
    if (stream === undefined) continue;
    stream.on("error", () => undefined);
    const [head] = (await once(stream, "response")) as [{ readonly ":status"?: number }];
    const status = head[":status"] ?? 0;
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  const growth = residentMb(pid) - before;
  for (const session of sessions) session.destroy();
  return { statuses, growth };
}
