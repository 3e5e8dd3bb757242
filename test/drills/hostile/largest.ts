// Requests for the largest possible responses, on every wire.
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Ingest } from "../../fixtures/clients/ingest.ts";
import type { Where } from "../isolation/operations.ts";
import type { User } from "../isolation/users.ts";
import { send } from "../isolation/raw.ts";
import type { Case } from "./cases.ts";

/** A full page of contacts, each with the maximum of notes of the maximum length: 50 MB. */
const contacts = 25;
const notes = 50;
const longest = "🙂".repeat(9_997);
const sessionNotes = 600;
const word = "largest";
const json = "application/json";

export const maxNoteLength = { content: longest, created_at: "2026-03-01T10:00:00Z" };

/**
 * Fills an account with the largest records and returns its session id. Even with a `share` of the notes, the responses
 * are larger than what an instance builds in one go.
 */
export async function fillWithLargest(put: Ingest, name: string, share = 1): Promise<string> {
  const at = maxNoteLength;
  const named = Array.from({ length: contacts }, (_, number) => ({ full_name: `${name} ${number}` }));
  for (const contact_id of await put.contacts(...named)) {
    const own = Array.from({ length: (share * notes) / 2 }, () => ({ ...at, contact_id, source: "app" }));
    for (let half = 0; half < 2; half++) await put.contactNotes(...own);
  }
  const session_id = await put.session({ title: name, session_date: at.created_at });
  const note = { ...at, session_id, type: "SESSION_NOTE_TYPE_USER_MANUAL" };
  for (let position = 0; position < share * sessionNotes; position += 25)
    await put.sessionNotes(...Array.from({ length: 25 }, () => ({ ...note, position })));
  await put.transcript({ session_id, transcript: "Zoë: 🙂 王小明 \n".repeat(180_000) });
  return session_id;
}

/** Fills the account and returns one case for each read on each wire. */
export async function largestResponses({ base }: Where, put: Ingest, user: User, share = 1): Promise<Case[]> {
  const { key, token } = user;
  const session_id = await fillWithLargest(put, word, share);
  const by = { authorization: `Bearer ${key}` };
  const rest = (path: string, coding: string): Case => ({
    name: `GET ${path}, ${coding}`,
    isFixed: true,
    send: () => send(base, "GET", path, { ...by, "accept-encoding": coding }),
  });
  const rpcs = [
    ["ContactService/SearchContacts", { query: word }],
    ["SessionService/GetSession", { session_id }],
    ["SessionService/GetSessionTranscript", { session_id }],
    ["SessionService/SearchTranscripts", { session_id, query: "zoe nothing" }],
  ] as const;
  const wires = [
    ["Connect", json, (body: Buffer) => body],
    ["gRPC-Web", "application/grpc-web+json", (body: Buffer) => encodeEnvelope(0, body)],
  ] as const;
  const tools = [
    ["search_contacts", { query: word }],
    ["get_session", { session_id }],
    ["get_session_transcript", { session_id }],
    ["search", { query: word }],
    ["fetch", { id: `session:${session_id}` }],
  ] as const;
  const mcp = { "content-type": json, accept: `${json}, text/event-stream`, "mcp-protocol-version": "2025-03-26" };
  return [
    ...[`/v1/contacts?query=${word}`, `/v1/sessions/${session_id}`, `/v1/sessions/${session_id}/transcript`].flatMap(
      (path) => ["identity", "gzip"].map((coding) => rest(path, coding)),
    ),
    ...rpcs.flatMap(([rpc, given]) =>
      wires.map(
        ([wire, type, write]): Case => ({
          name: `${rpc} by ${wire}`,
          isFixed: true,
          send: () =>
            send(
              base,
              "POST",
              `/records.v1.${rpc}`,
              { ...by, "content-type": type },
              write(Buffer.from(JSON.stringify(given))),
            ),
        }),
      ),
    ),
    ...tools.map(
      ([name, given]): Case => ({
        name: `the tool ${name}`,
        isFixed: true,
        send: () =>
          send(
            base,
            "POST",
            "/mcp",
            { ...mcp, authorization: `Bearer ${token}` },
            JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }),
          ),
      }),
    ),
  ];
}
