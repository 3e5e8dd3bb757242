// Clients that request large responses and read nothing of them, within the limit of one account.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:http2";
import { maxNoteLength, putInto } from "./largest.ts";

/** Less than a huge response has, which takes a slot: 3.6 MB. */
const contacts = 2;
const notes = 45;
const word = "unread";
/** An instance keeps 64 MB of a connection. */
const ofConnection = 15;

/** Responses that are held. */
export interface Held {
  /** How many responses had which status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Leaves. */
  close(): void;
}

/** Fills an account with records for such responses. */
export async function fillWithUnread(internal: string, accountId: string): Promise<void> {
  const put = putInto(internal, accountId);
  const named = Array.from({ length: contacts }, (_, number) => ({ full_name: `${word} ${number}` }));
  for (const contact_id of await put("UpsertContacts", "contacts", named)) {
    const own = Array.from({ length: notes }, () => ({ ...maxNoteLength, contact_id, source: "app" }));
    for (let from = 0; from < notes; from += 15) await put("UpsertContactNotes", "notes", own.slice(from, from + 15));
  }
}

/** Requests `count` responses one after the other, and reads only their headers. */
export async function holdUnread(base: string, key: string, count: number): Promise<Held> {
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
  return {
    statuses,
    close() {
      for (const session of sessions) session.destroy();
    },
  };
}
