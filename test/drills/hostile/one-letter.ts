// Searches of stored texts of one letter, by a query of the same letter.
import type { Ingest } from "../../fixtures/clients/ingest.ts";
import type { Where } from "../isolation/operations.ts";
import { send } from "../isolation/raw.ts";
import type { User } from "../isolation/users.ts";
import type { Case } from "./cases.ts";
import { maxNoteLength } from "./largest.ts";

const query = `${"a".repeat(98)}b`;
const notes = 5;
/** The query is only at the end of each, so that a search compares it with all that is before. */
const stored = ["a", "a-", "a "].map((part) => `${part.repeat(99_800 / part.length)} ${query}`);

/** Fills the account and returns one case for each search of notes and transcripts. */
export async function searchesOfOneLetter({ base }: Where, put: Ingest, { token }: User): Promise<Case[]> {
  const { created_at } = maxNoteLength;
  const contact_id = await put.contact({});
  for (const content of stored) {
    const note = { contact_id, content, created_at, source: "app" };
    await put.contactNotes(...Array.from({ length: notes }, () => note));
    const session_id = await put.session({ title: "One letter", session_date: created_at });
    await put.transcript({ session_id, transcript: content });
  }
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-03-26",
    authorization: `Bearer ${token}`,
  };
  return ["search_notes", "search_transcripts", "search"].map((name) => ({
    name: `the tool ${name} for one letter`,
    isFixed: true,
    send: () => {
      const params = { name, arguments: { query } };
      return send(
        base,
        "POST",
        "/mcp",
        headers,
        JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      );
    },
  }));
}
