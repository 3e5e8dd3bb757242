// The cases of searching transcripts, which REST does not have, on every wire that has it.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { accepts, casesOf, missing, rejects, unauthenticated, unknown } from "./outcomes.ts";

/** Finds all passages with these texts, which are those of the account's one session. */
const finds = (request: Parameters<typeof accepts>[0], ...texts: string[]) =>
  accepts(request, ({ data }, { session }) =>
    expect(data).toMatchObject(
      texts.map((text) => ({ session_id: session, session_title: "Budget", offset: 0, text })),
    ),
  );

export const beyondRestCases: readonly Case[] = [
  ...casesOf("SearchTranscripts", {
    "finds the passage of a session [MCP-17]": finds(
      ({ session }) => ({ query: "hello", session_id: session }),
      "Hello.",
    ),
    "finds the passages of a contact's sessions [MCP-17]": finds(
      ({ contact }) => ({ query: "HELL", contact_id: contact.toUpperCase() }),
      "Hello.",
    ),
    "finds no passage without the words [MCP-17]": finds(({ session }) => ({ query: "bye", session_id: session })),
    "finds no passage of another account's contact [MCP-17, ISO-04]": finds(({ strangers }) => ({
      query: "hello",
      contact_id: strangers.contact,
    })),
    "finds what was said in any session [MCP-17]": finds({ query: "hello" }, "Hello."),
    "skips sessions [MCP-17]": finds({ query: "hello", offset: 1 }),
    "another account's session has no passages to find [ISO-03, ISO-05]": missing(({ strangers }) => ({
      query: "hello",
      session_id: strangers.session,
    })),
    "an unknown session has no passages to find [WIR-06]": missing({ query: "hello", session_id: unknown }),
    "a page of 26 sessions of passages is rejected [MCP-17]": rejects(
      { query: "hello", limit: 26 },
      "limit: must be from 1 to 25",
    ),
    "passages from a date that does not exist are rejected [MCP-17]": rejects(
      { query: "hello", from: "2026-02-30" },
      "from: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
    ),
    "passages of a session and a contact are rejected [MCP-17]": rejects(
      ({ session, contact }) => ({ query: "hello", session_id: session, contact_id: contact }),
      "contact_id: must not be given with session_id",
    ),
    "passages of a session whose id is not a UUID are rejected [MCP-17]": rejects(
      { query: "hello", session_id: "1" },
      "session_id: must be a valid UUID",
    ),
    "passages with one letter are rejected [MCP-17]": rejects(
      ({ session }) => ({ query: "h", session_id: session }),
      "query: must be at least 2 characters",
    ),
    "a search for passages without a key is unauthenticated [WIR-05]": unauthenticated(({ session }) => ({
      query: "hello",
      session_id: session,
    })),
  }),
];
