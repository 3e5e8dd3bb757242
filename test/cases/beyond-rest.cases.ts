// The cases of searching transcripts, which REST does not have, on every wire that has it.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { invalid, notFound, unknown, withoutKey } from "./outcomes.ts";

/** Finds all passages with these texts, which are those of the account's one session. */
function passages(...texts: string[]): Pick<Case, "check"> & { readonly http: 200; readonly code: "ok" } {
  return {
    http: 200,
    code: "ok",
    check: ({ data }, { session }) =>
      expect(data).toMatchObject(
        texts.map((text) => ({ session_id: session, session_title: "Budget", offset: 0, text })),
      ),
  };
}

export const beyondRestCases: readonly Case[] = [
  {
    title: "finds the passage of a session [MCP-17]",
    rpc: "SearchTranscripts",
    ...passages("Hello."),
    request: ({ session }) => ({ query: "hello", session_id: session }),
  },
  {
    title: "finds the passages of a contact's sessions [MCP-17]",
    rpc: "SearchTranscripts",
    ...passages("Hello."),
    request: ({ contact }) => ({ query: "HELL", contact_id: contact.toUpperCase() }),
  },
  {
    title: "finds no passage without the words [MCP-17]",
    rpc: "SearchTranscripts",
    ...passages(),
    request: ({ session }) => ({ query: "bye", session_id: session }),
  },
  {
    title: "finds no passage of another account's contact [MCP-17, ISO-04]",
    rpc: "SearchTranscripts",
    ...passages(),
    request: ({ strangers }) => ({ query: "hello", contact_id: strangers.contact }),
  },
  {
    title: "finds what was said in any session [MCP-17]",
    rpc: "SearchTranscripts",
    ...passages("Hello."),
    request: () => ({ query: "hello" }),
  },
  {
    title: "skips sessions [MCP-17]",
    rpc: "SearchTranscripts",
    ...passages(),
    request: () => ({ query: "hello", offset: 1 }),
  },
  {
    title: "another account's session has no passages to find [ISO-03, ISO-05]",
    rpc: "SearchTranscripts",
    ...notFound,
    request: ({ strangers }) => ({ query: "hello", session_id: strangers.session }),
  },
  {
    title: "an unknown session has no passages to find [WIR-06]",
    rpc: "SearchTranscripts",
    ...notFound,
    request: () => ({ query: "hello", session_id: unknown }),
  },
  {
    title: "a page of 26 sessions of passages is rejected [MCP-17]",
    rpc: "SearchTranscripts",
    ...invalid,
    message: "limit: must be from 1 to 25",
    request: () => ({ query: "hello", limit: 26 }),
  },
  {
    title: "passages from a date that does not exist are rejected [MCP-17]",
    rpc: "SearchTranscripts",
    ...invalid,
    message:
      "from: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
    request: () => ({ query: "hello", from: "2026-02-30" }),
  },
  {
    title: "passages of a session and a contact are rejected [MCP-17]",
    rpc: "SearchTranscripts",
    ...invalid,
    message: "contact_id: must not be given with session_id",
    request: ({ session, contact }) => ({ query: "hello", session_id: session, contact_id: contact }),
  },
  {
    title: "passages of a session whose id is not a UUID are rejected [MCP-17]",
    rpc: "SearchTranscripts",
    ...invalid,
    message: "session_id: must be a valid UUID",
    request: () => ({ query: "hello", session_id: "1" }),
  },
  {
    title: "passages with one letter are rejected [MCP-17]",
    rpc: "SearchTranscripts",
    ...invalid,
    message: "query: must be at least 2 characters",
    request: ({ session }) => ({ query: "h", session_id: session }),
  },
  {
    title: "a search for passages without a key is unauthenticated [WIR-05]",
    rpc: "SearchTranscripts",
    ...withoutKey,
    key: () => null,
    request: ({ session }) => ({ query: "hello", session_id: session }),
  },
];
