// The cases of sessions and transcripts, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { invalid, notFound, unknown, withoutKey } from "./outcomes.ts";

const ok = { http: 200, code: "ok" } as const;
const ids = (data: unknown): string[] => (data as { id: string }[]).map(({ id }) => id);

export const sessionCases: readonly Case[] = [
  // ListSessions
  {
    title: "a list of sessions needs no parameter, and holds only the account's sessions [SLS-01, ISO-04, WIR-03]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({}),
    check: ({ data, pagination }, { session }) => {
      expect(ids(data)).toEqual([session]);
      expect(pagination).toEqual({ limit: 10, offset: 0, has_more: false, next_offset: null });
    },
  },
  {
    title: "limit 25 is accepted for sessions [SLS-12]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ limit: 25, offset: 0 }),
    check: ({ pagination }) => expect(pagination).toMatchObject({ limit: 25 }),
  },
  {
    title: "limit 1 is accepted for sessions [SLS-11]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ limit: 1 }),
    check: ({ pagination }) => expect(pagination).toMatchObject({ limit: 1 }),
  },
  {
    title: "limit 0 is rejected for sessions [SLS-11]",
    rpc: "ListSessions",
    ...invalid,
    message: "limit: must be from 1 to 25",
    request: () => ({ limit: 0 }),
  },
  {
    title: "limit 26 is rejected for sessions [SLS-12]",
    rpc: "ListSessions",
    ...invalid,
    message: "limit: must be from 1 to 25",
    request: () => ({ limit: 26 }),
  },
  {
    title: "offset -1 is rejected for sessions [SLS-13]",
    rpc: "ListSessions",
    ...invalid,
    message: "offset: must be at least 0",
    restMessage: "offset: must be a whole number in digits, without a sign or leading zeros",
    request: () => ({ offset: -1 }),
  },
  {
    title: "offset 2147483647 is accepted and empty for sessions [VAL-08]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ offset: 2_147_483_647 }),
    check: ({ data, pagination }) => {
      expect(data).toEqual([]);
      expect(pagination).toEqual({ limit: 10, offset: 2_147_483_647, has_more: false, next_offset: null });
    },
  },
  {
    title: "a session query of 0 characters is rejected [SLS-07]",
    rpc: "ListSessions",
    ...invalid,
    message: "query: must be at least 2 characters",
    request: () => ({ query: "" }),
  },
  {
    title: "a session query of 1 character is rejected [SLS-07]",
    rpc: "ListSessions",
    ...invalid,
    message: "query: must be at least 2 characters",
    request: () => ({ query: "b" }),
  },
  {
    title: "a session query of 2 characters is accepted [SLS-07]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ query: "bu" }),
    check: ({ data }) => expect(data).toHaveLength(1),
  },
  {
    title: "a session query of 100 emoji is accepted [SLS-08, VAL-11]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ query: "😀".repeat(100) }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "a session query of 101 characters is rejected [SLS-08]",
    rpc: "ListSessions",
    ...invalid,
    message: "query: must be at most 100 characters",
    request: () => ({ query: "b".repeat(101) }),
  },
  {
    title: "a contact_id selects the sessions of that contact, in upper case too [SLS-09, VAL-16]",
    rpc: "ListSessions",
    ...ok,
    request: ({ contact }) => ({ contact_id: contact.toUpperCase() }),
    check: ({ data }, { session }) => expect(ids(data)).toEqual([session]),
  },
  {
    title: "a contact_id of another account returns an empty list [SLS-10, ISO-04]",
    rpc: "ListSessions",
    ...ok,
    request: ({ strangers }) => ({ contact_id: strangers.contact }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "an unknown contact_id returns an empty list [SLS-10]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ contact_id: unknown }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "a contact_id that is not a UUID is rejected [SLS-03]",
    rpc: "ListSessions",
    ...invalid,
    message: "contact_id: must be a valid UUID",
    request: () => ({ contact_id: "ann" }),
  },
  {
    title: "from and to accept a date and a date-time [SLS-14]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ from: "2026-01-31", to: "2026-01-31T10:30:00+01:00" }),
    check: ({ data }) => expect(data).toHaveLength(1),
  },
  {
    title: "a from that is not in the calendar is rejected [SLS-17, ERR-02]",
    rpc: "ListSessions",
    ...invalid,
    message:
      "from: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
    request: () => ({ from: "2026-02-30" }),
  },
  {
    title: "a to without an offset is rejected [SLS-14]",
    rpc: "ListSessions",
    ...invalid,
    message:
      "to: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
    request: () => ({ to: "2026-01-31T09:30:00" }),
  },
  {
    title: "a from after to returns an empty list [SLS-18]",
    rpc: "ListSessions",
    ...ok,
    request: () => ({ from: "2026-02-01", to: "2026-01-01" }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "a list of sessions without a key is unauthenticated [SLS-02]",
    rpc: "ListSessions",
    ...withoutKey,
    key: () => null,
    request: () => ({}),
  },
  // GetSession
  {
    title: "a session has its notes and its client [SGT-01, WIR-03]",
    rpc: "GetSession",
    ...ok,
    request: ({ session }) => ({ session_id: session }),
    check: ({ data }, { session, contact }) =>
      expect(data).toMatchObject({
        id: session,
        google_doc_url: "https://docs.example/1",
        client: { id: contact, full_name: "Ann Lee", email: "Taken@Example.com" },
        notes: [{ content: "Agreed on the budget", position: 1, type: "ai_assistant" }],
      }),
  },
  {
    title: "a session's id in upper case is accepted and returned in lower case [VAL-16, FMT-05]",
    rpc: "GetSession",
    ...ok,
    request: ({ session }) => ({ session_id: session.toUpperCase() }),
    check: ({ data }, { session }) => expect(data).toHaveProperty("id", session),
  },
  {
    title: "an unknown session is not found [SGT-03, WIR-06]",
    rpc: "GetSession",
    ...notFound,
    request: () => ({ session_id: unknown }),
  },
  {
    title: "another account's session is not found [ISO-03, ISO-05]",
    rpc: "GetSession",
    ...notFound,
    request: ({ strangers }) => ({ session_id: strangers.session }),
  },
  {
    title: "a session's id that is not a UUID is rejected [SGT-04]",
    rpc: "GetSession",
    ...invalid,
    message: "session_id: must be a valid UUID",
    request: () => ({ session_id: "1" }),
  },
  {
    title: "a session read without a key is unauthenticated [SGT-02]",
    rpc: "GetSession",
    ...withoutKey,
    key: () => null,
    request: ({ session }) => ({ session_id: session }),
  },
  // GetSessionTranscript
  {
    title: "a transcript has its recording [STR-01, WIR-03]",
    rpc: "GetSessionTranscript",
    ...ok,
    request: ({ session }) => ({ session_id: session.toUpperCase() }),
    check: ({ data }, { session }) =>
      expect(data).toMatchObject({
        session_id: session,
        transcript: "Hello.",
        recording: {
          duration_seconds: 12.5,
          recording_started_at: "2026-01-31T09:30:01.000Z",
          recording_ended_at: null,
        },
      }),
  },
  {
    title: "the transcript of an unknown session is not found [STR-03]",
    rpc: "GetSessionTranscript",
    ...notFound,
    request: () => ({ session_id: unknown }),
  },
  {
    title: "the transcript of another account's session is not found [ISO-03, ISO-05]",
    rpc: "GetSessionTranscript",
    ...notFound,
    request: ({ strangers }) => ({ session_id: strangers.session }),
  },
  {
    title: "a transcript of an id that is not a UUID is rejected [STR-04]",
    rpc: "GetSessionTranscript",
    ...invalid,
    message: "session_id: must be a valid UUID",
    request: () => ({ session_id: "1" }),
  },
  {
    title: "a transcript read without a key is unauthenticated [STR-02]",
    rpc: "GetSessionTranscript",
    ...withoutKey,
    key: () => null,
    request: ({ session }) => ({ session_id: session }),
  },
];
