// The cases of notes and health, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { accepts, casesOf, rejects, unauthenticated } from "./outcomes.ts";

export const noteCases: readonly Case[] = [
  ...casesOf("SearchNotes", {
    "a search finds the notes of the account alone, newest first [NOT-01, NOT-15, ISO-04, WIR-03]": accepts(
      { query: "budget" },
      ({ data, pagination }) => {
        expect(data).toMatchObject([
          { kind: "contact", content: "Asked for a budget", note_type: "user_manual" },
          { kind: "session", content: "Agreed on the budget", note_type: "ai_assistant" },
        ]);
        expect(pagination).toEqual({ limit: 15, offset: 0, has_more: false, next_offset: null });
      },
    ),
    "a page of notes points to the next one [PAG-01, PAG-02]": accepts(
      { query: "budget", limit: 1 },
      ({ data, pagination }) => {
        expect(data).toHaveLength(1);
        expect(pagination).toEqual({ limit: 1, offset: 0, has_more: true, next_offset: 1 });
      },
    ),
    "limit 25 is accepted for notes [NOT-13]": accepts({ query: "budget", limit: 25, offset: 0 }),
    "limit 0 is rejected for notes [NOT-12]": rejects({ query: "budget", limit: 0 }, "limit: must be from 1 to 25"),
    "limit 26 is rejected for notes [NOT-13]": rejects({ query: "budget", limit: 26 }, "limit: must be from 1 to 25"),
    "offset -1 is rejected for notes [NOT-14]": rejects({ query: "budget", offset: -1 }, "offset: must be at least 0", {
      restMessage: "offset: must be a whole number in digits, without a sign or leading zeros",
    }),
    "offset 2147483647 is accepted and empty for notes [VAL-08]": accepts(
      { query: "budget", offset: 2_147_483_647 },
      ({ data }) => expect(data).toEqual([]),
    ),
    "a note search without a query is rejected [NOT-03]": rejects({}, "query: must not be empty", {
      restMessage: "query: is required",
    }),
    "a note query of 0 characters is rejected [NOT-10]": rejects({ query: "" }, "query: must not be empty"),
    "a note query of 1 character is rejected [NOT-10]": rejects({ query: "b" }, "query: must be at least 2 characters"),
    "a note query of 2 characters is accepted [NOT-10]": accepts({ query: "bu" }, ({ data }) =>
      expect(data).toHaveLength(2),
    ),
    "a note query of 100 emoji is accepted [NOT-11, VAL-11]": accepts({ query: "😀".repeat(100) }, ({ data }) =>
      expect(data).toEqual([]),
    ),
    "a note query of 101 characters is rejected [NOT-11]": rejects(
      { query: "b".repeat(101) },
      "query: must be at most 100 characters",
    ),
    "a note search without a key is unauthenticated [NOT-02]": unauthenticated({ query: "budget" }),
  }),
];

const healthy: Case["check"] = ({ data }) => expect(data).toEqual({ status: "ok", version: "1.0.0" });

export const healthCases: readonly Case[] = [
  ...casesOf("CheckHealth", {
    "health responds without a key [HLT-01, HLT-05, WIR-02]": accepts({}, healthy, { key: () => null }),
    "health responds despite a wrong key [HLT-01]": accepts({}, healthy, { key: () => "rec_wrong" }),
    "health responds with a key [HLT-01]": accepts({}, healthy),
  }),
];
