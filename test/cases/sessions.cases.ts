// The cases of sessions and transcripts, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { accepts, casesOf, missing, rejects, unauthenticated, unknown } from "./outcomes.ts";

const ids = (data: unknown): string[] => (data as { id: string }[]).map(({ id }) => id);

export const sessionCases: readonly Case[] = [
  ...casesOf("ListSessions", {
    "a list of sessions needs no parameter, and holds only the account's sessions [SLS-01, ISO-04, WIR-03]": accepts(
      {},
      ({ data, pagination }, { session }) => {
        expect(ids(data)).toEqual([session]);
        expect(pagination).toEqual({ limit: 10, offset: 0, has_more: false, next_offset: null });
      },
    ),
    "limit 25 is accepted for sessions [SLS-12]": accepts({ limit: 25, offset: 0 }, ({ pagination }) =>
      expect(pagination).toMatchObject({ limit: 25 }),
    ),
    "limit 1 is accepted for sessions [SLS-11]": accepts({ limit: 1 }, ({ pagination }) =>
      expect(pagination).toMatchObject({ limit: 1 }),
    ),
    "limit 0 is rejected for sessions [SLS-11]": rejects({ limit: 0 }, "limit: must be from 1 to 25"),
    "limit 26 is rejected for sessions [SLS-12]": rejects({ limit: 26 }, "limit: must be from 1 to 25"),
    "offset -1 is rejected for sessions [SLS-13]": rejects({ offset: -1 }, "offset: must be at least 0", {
      restMessage: "offset: must be a whole number in digits, without a sign or leading zeros",
    }),
    "offset 2147483647 is accepted and empty for sessions [VAL-08]": accepts(
      { offset: 2_147_483_647 },
      ({ data, pagination }) => {
        expect(data).toEqual([]);
        expect(pagination).toEqual({ limit: 10, offset: 2_147_483_647, has_more: false, next_offset: null });
      },
    ),
    "a session query of 0 characters is rejected [SLS-07]": rejects(
      { query: "" },
      "query: must be at least 2 characters",
    ),
    "a session query of 1 character is rejected [SLS-07]": rejects(
      { query: "b" },
      "query: must be at least 2 characters",
    ),
    "a session query of 2 characters is accepted [SLS-07]": accepts({ query: "bu" }, ({ data }) =>
      expect(data).toHaveLength(1),
    ),
    "a session query of 100 emoji is accepted [SLS-08, VAL-11]": accepts({ query: "😀".repeat(100) }, ({ data }) =>
      expect(data).toEqual([]),
    ),
    "a session query of 101 characters is rejected [SLS-08]": rejects(
      { query: "b".repeat(101) },
      "query: must be at most 100 characters",
    ),
    "a contact_id selects the sessions of that contact, in upper case too [SLS-09, VAL-16]": accepts(
      ({ contact }) => ({ contact_id: contact.toUpperCase() }),
      ({ data }, { session }) => expect(ids(data)).toEqual([session]),
    ),
    "a contact_id of another account returns an empty list [SLS-10, ISO-04]": accepts(
      ({ strangers }) => ({ contact_id: strangers.contact }),
      ({ data }) => expect(data).toEqual([]),
    ),
    "an unknown contact_id returns an empty list [SLS-10]": accepts({ contact_id: unknown }, ({ data }) =>
      expect(data).toEqual([]),
    ),
    "a contact_id that is not a UUID is rejected [SLS-03]": rejects(
      { contact_id: "ann" },
      "contact_id: must be a valid UUID",
    ),
    "from and to accept a date and a date-time [SLS-14]": accepts(
      { from: "2026-01-31", to: "2026-01-31T10:30:00+01:00" },
      ({ data }) => expect(data).toHaveLength(1),
    ),
    "a from that is not in the calendar is rejected [SLS-17, ERR-02]": rejects(
      { from: "2026-02-30" },
      "from: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
    ),
    "a to without an offset is rejected [SLS-14]": rejects(
      { to: "2026-01-31T09:30:00" },
      "to: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
    ),
    "a from after to returns an empty list [SLS-18]": accepts({ from: "2026-02-01", to: "2026-01-01" }, ({ data }) =>
      expect(data).toEqual([]),
    ),
    "a list of sessions without a key is unauthenticated [SLS-02]": unauthenticated({}),
  }),
  ...casesOf("GetSession", {
    "a session has its notes and its client [SGT-01, WIR-03]": accepts(
      ({ session }) => ({ session_id: session }),
      ({ data }, { session, contact }) =>
        expect(data).toMatchObject({
          id: session,
          google_doc_url: "https://docs.example/1",
          client: { id: contact, full_name: "Ann Lee", email: "Taken@Example.com" },
          notes: [{ content: "Agreed on the budget", position: 1, type: "ai_assistant" }],
        }),
    ),
    "a session's id in upper case is accepted and returned in lower case [VAL-16, FMT-05]": accepts(
      ({ session }) => ({ session_id: session.toUpperCase() }),
      ({ data }, { session }) => expect(data).toHaveProperty("id", session),
    ),
    "an unknown session is not found [SGT-03, WIR-06]": missing({ session_id: unknown }),
    "another account's session is not found [ISO-03, ISO-05]": missing(({ strangers }) => ({
      session_id: strangers.session,
    })),
    "a session's id that is not a UUID is rejected [SGT-04]": rejects(
      { session_id: "1" },
      "session_id: must be a valid UUID",
    ),
    "a session read without a key is unauthenticated [SGT-02]": unauthenticated(({ session }) => ({
      session_id: session,
    })),
  }),
  ...casesOf("GetSessionTranscript", {
    "a transcript has its recording [STR-01, WIR-03]": accepts(
      ({ session }) => ({ session_id: session.toUpperCase() }),
      ({ data }, { session }) =>
        expect(data).toMatchObject({
          session_id: session,
          transcript: "Hello.",
          recording: {
            duration_seconds: 12.5,
            recording_started_at: "2026-01-31T09:30:01.000Z",
            recording_ended_at: null,
          },
        }),
    ),
    "the transcript of an unknown session is not found [STR-03]": missing({ session_id: unknown }),
    "the transcript of another account's session is not found [ISO-03, ISO-05]": missing(({ strangers }) => ({
      session_id: strangers.session,
    })),
    "a transcript of an id that is not a UUID is rejected [STR-04]": rejects(
      { session_id: "1" },
      "session_id: must be a valid UUID",
    ),
    "a transcript read without a key is unauthenticated [STR-02]": unauthenticated(({ session }) => ({
      session_id: session,
    })),
  }),
];
