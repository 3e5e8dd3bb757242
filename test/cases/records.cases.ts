// The cases of notes and health, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { invalid, withoutKey } from "./outcomes.ts";

const ok = { http: 200, code: "ok" } as const;

export const noteCases: readonly Case[] = [
  {
    title: "a search finds the notes of the account alone, newest first [NOT-01, NOT-15, ISO-04, WIR-03]",
    rpc: "SearchNotes",
    ...ok,
    request: () => ({ query: "budget" }),
    check: ({ data, pagination }) => {
      expect(data).toMatchObject([
        { kind: "contact", content: "Asked for a budget", note_type: "user_manual" },
        { kind: "session", content: "Agreed on the budget", note_type: "ai_assistant" },
      ]);
      expect(pagination).toEqual({ limit: 15, offset: 0, has_more: false, next_offset: null });
    },
  },
  {
    title: "a page of notes points to the next one [PAG-01, PAG-02]",
    rpc: "SearchNotes",
    ...ok,
    request: () => ({ query: "budget", limit: 1 }),
    check: ({ data, pagination }) => {
      expect(data).toHaveLength(1);
      expect(pagination).toEqual({ limit: 1, offset: 0, has_more: true, next_offset: 1 });
    },
  },
  {
    title: "limit 25 is accepted for notes [NOT-13]",
    rpc: "SearchNotes",
    ...ok,
    request: () => ({ query: "budget", limit: 25, offset: 0 }),
  },
  {
    title: "limit 0 is rejected for notes [NOT-12]",
    rpc: "SearchNotes",
    ...invalid,
    message: "limit: must be from 1 to 25",
    request: () => ({ query: "budget", limit: 0 }),
  },
  {
    title: "limit 26 is rejected for notes [NOT-13]",
    rpc: "SearchNotes",
    ...invalid,
    message: "limit: must be from 1 to 25",
    request: () => ({ query: "budget", limit: 26 }),
  },
  {
    title: "offset -1 is rejected for notes [NOT-14]",
    rpc: "SearchNotes",
    ...invalid,
    message: "offset: must be at least 0",
    restMessage: "offset: must be a whole number in digits, without a sign or leading zeros",
    request: () => ({ query: "budget", offset: -1 }),
  },
  {
    title: "offset 2147483647 is accepted and empty for notes [VAL-08]",
    rpc: "SearchNotes",
    ...ok,
    request: () => ({ query: "budget", offset: 2_147_483_647 }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "a note search without a query is rejected [NOT-03]",
    rpc: "SearchNotes",
    ...invalid,
    message: "query: must not be empty",
    restMessage: "query: is required",
    request: () => ({}),
  },
  {
    title: "a note query of 0 characters is rejected [NOT-10]",
    rpc: "SearchNotes",
    ...invalid,
    message: "query: must not be empty",
    request: () => ({ query: "" }),
  },
  {
    title: "a note query of 1 character is rejected [NOT-10]",
    rpc: "SearchNotes",
    ...invalid,
    message: "query: must be at least 2 characters",
    request: () => ({ query: "b" }),
  },
  {
    title: "a note query of 2 characters is accepted [NOT-10]",
    rpc: "SearchNotes",
    ...ok,
    request: () => ({ query: "bu" }),
    check: ({ data }) => expect(data).toHaveLength(2),
  },
  {
    title: "a note query of 100 emoji is accepted [NOT-11, VAL-11]",
    rpc: "SearchNotes",
    ...ok,
    request: () => ({ query: "😀".repeat(100) }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "a note query of 101 characters is rejected [NOT-11]",
    rpc: "SearchNotes",
    ...invalid,
    message: "query: must be at most 100 characters",
    request: () => ({ query: "b".repeat(101) }),
  },
  {
    title: "a note search without a key is unauthenticated [NOT-02]",
    rpc: "SearchNotes",
    ...withoutKey,
    key: () => null,
    request: () => ({ query: "budget" }),
  },
];

const healthy = { check: ({ data }: { data: unknown }) => expect(data).toEqual({ status: "ok", version: "1.0.0" }) };

export const healthCases: readonly Case[] = [
  {
    title: "health responds without a key [HLT-01, HLT-05, WIR-02]",
    rpc: "CheckHealth",
    ...ok,
    ...healthy,
    key: () => null,
    request: () => ({}),
  },
  {
    title: "health responds despite a wrong key [HLT-01]",
    rpc: "CheckHealth",
    ...ok,
    ...healthy,
    key: () => "rec_wrong",
    request: () => ({}),
  },
  { title: "health responds with a key [HLT-01]", rpc: "CheckHealth", ...ok, ...healthy, request: () => ({}) },
];
