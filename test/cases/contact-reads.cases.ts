// The cases of reading contacts, and of UpdateContact with a field mask, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { accepts, casesOf, fails, missing, rejects, unauthenticated, unknown, updates } from "./outcomes.ts";

export const contactReadCases: readonly Case[] = [
  ...casesOf("SearchContacts", {
    "a search finds complete contacts, and those of the account alone [CSR-01, ISO-04, WIR-02]": accepts(
      { query: "ann" },
      ({ data }, { contact }) => expect((data as { id: string }[]).map(({ id }) => id)).toEqual([contact]),
    ),
    "a search with a read-only key finds contacts [AUT-05]": accepts(
      { query: "ann" },
      ({ data }, { readers }) => expect((data as { id: string }[]).map(({ id }) => id)).toEqual([readers.contact]),
      { key: ({ reader }) => reader.key },
    ),
    "a search without a query is rejected [CSR-03]": rejects({}, "query: must not be empty", {
      restMessage: "query: is required",
    }),
    "a contact query of 0 characters is rejected [CSR-05]": rejects({ query: "" }, "query: must not be empty"),
    "a contact query of 1 character is rejected [CSR-05]": rejects(
      { query: "a" },
      "query: must be at least 2 characters",
    ),
    "a contact query of 1 emoji is rejected, although a JavaScript string counts two [CSR-05, VAL-11]": rejects(
      { query: "😀" },
      "query: must be at least 2 characters",
    ),
    "a contact query of 2 characters is accepted [CSR-05]": accepts({ query: "an" }, ({ data }) =>
      expect(data).toHaveLength(1),
    ),
    "a contact query of 100 emoji is accepted [CSR-06, VAL-11, SRC-06]": accepts(
      { query: "😀".repeat(100) },
      ({ data }) => expect(data).toEqual([]),
    ),
    "a contact query of 101 characters is rejected [CSR-06]": rejects(
      { query: "a".repeat(101) },
      "query: must be at most 100 characters",
    ),
    "a contact search without a key is unauthenticated [CSR-02, WIR-05]": unauthenticated({ query: "ann" }),
    "a contact search with an invalid key is unauthenticated [AUT-01, WIR-05]": fails(
      { query: "ann" },
      {
        http: 401,
        code: "unauthenticated",
        reason: "INVALID_KEY",
        message:
          "The API key is not valid: it is malformed, unknown, rotated or revoked. Use the current key of the account.",
        key: () => "rec_nonsense",
      },
    ),
  }),
  ...casesOf("GetContact", {
    "a contact has all its fields [CGT-01, WIR-02]": accepts(
      ({ contact }) => ({ contact_id: contact }),
      ({ data }, { contact }) =>
        expect(data).toMatchObject({
          id: contact,
          memory: "Likes tea.",
          notes: "VIP",
          notes_timeline: [{ source: "import" }],
          recent_sessions: [{ title: "Budget", session_date: "2026-01-31T09:30:00.000Z" }],
        }),
    ),
    "an archived contact has the time at which it was archived [CGT-08]": accepts(
      ({ archived }) => ({ contact_id: archived }),
      ({ data }) => expect(data).toMatchObject({ archived_at: "2026-01-02T03:04:05.000Z" }),
    ),
    "a contact's id in upper case is accepted and returned in lower case [VAL-16, FMT-05]": accepts(
      ({ contact }) => ({ contact_id: contact.toUpperCase() }),
      ({ data }, { contact }) => expect(data).toHaveProperty("id", contact),
    ),
    "an unknown contact is not found [CGT-03, WIR-06]": missing({ contact_id: unknown }),
    "another account's contact is not found [ISO-01, ISO-05]": missing(({ strangers }) => ({
      contact_id: strangers.contact,
    })),
    "a session's id is not found as a contact's [CGT-03]": missing(({ session }) => ({ contact_id: session })),
    "a contact's id that is not a UUID is rejected [CGT-04]": rejects(
      { contact_id: "3f2504e04f8941d39a0c0305e82c3301" },
      "contact_id: must be a valid UUID",
    ),
    "a contact read without a key is unauthenticated [CGT-02]": unauthenticated(({ contact }) => ({
      contact_id: contact,
    })),
  }),
];

/** A mask does over RPC what the presence of a property does in a PATCH. */
export const fieldMaskCases: readonly Case[] = [
  ...casesOf("UpdateContact", {
    "a field that is in the mask and set is changed, and the others stay [WIR-10, CUP-14]": updates(
      ({ contact }) => ({
        contact_id: contact,
        phone: "555",
        full_name: "Not taken over",
        update_mask: "phone",
      }),
      ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: "555", email: "Taken@Example.com" }),
      { rest: ({ contact }) => ({ contact_id: contact, phone: "555" }) },
    ),
    "a phone that is in the mask and not set is cleared, as by null [WIR-10, CUP-14]": updates(
      ({ contact }) => ({ contact_id: contact, update_mask: "phone" }),
      ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: null, email: "Taken@Example.com" }),
      { rest: ({ contact }) => ({ contact_id: contact, phone: null }) },
    ),
    "an email that is in the mask and not set is cleared, as by null [WIR-10, CUP-14]": updates(
      ({ contact }) => ({ contact_id: contact, update_mask: "email" }),
      ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", email: null }),
      { rest: ({ contact }) => ({ contact_id: contact, email: null }) },
    ),
    "without a mask the fields that are set are changed [WIR-10]": updates(
      ({ contact, taken }) => ({ contact_id: contact, email: taken, phone: "1" }),
      ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", email: "Taken@Example.com", phone: "1" }),
    ),
    "the mask * changes every field, and clears those that are not set [WIR-11]": updates(
      ({ contact, taken }) => ({ contact_id: contact, full_name: "Ann Lee", email: taken, update_mask: "*" }),
      ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: null, email: "Taken@Example.com" }),
      { rest: ({ contact, taken }) => ({ contact_id: contact, full_name: "Ann Lee", phone: null, email: taken }) },
    ),
    "the mask * cannot clear full_name [WIR-11, CUP-12]": rejects(
      ({ contact }) => ({ contact_id: contact, phone: "9", update_mask: "*" }),
      "full_name: cannot be cleared",
      { rest: ({ contact }) => ({ contact_id: contact, full_name: null }), restMessage: "full_name: must not be null" },
    ),
    "invalid fields outside the mask are ignored [WIR-11]": updates(
      ({ contact }) => ({
        contact_id: contact,
        full_name: "x".repeat(201),
        email: "no email",
        phone: "9",
        update_mask: "phone",
      }),
      ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: "9" }),
      { rest: ({ contact }) => ({ contact_id: contact, phone: "9" }) },
    ),
    "full_name cannot be cleared [WIR-10, CUP-12]": rejects(
      ({ contact }) => ({ contact_id: contact, update_mask: "fullName" }),
      "full_name: cannot be cleared",
      { rest: ({ contact }) => ({ contact_id: contact, full_name: null }), restMessage: "full_name: must not be null" },
    ),
    "a mask with a name that is not a field of the update is rejected, as in a PATCH [WIR-10, CUP-11]": rejects(
      ({ contact }) => ({ contact_id: contact, update_mask: "memory" }),
      'update_mask: "memory" is not one of full_name, email, phone',
      {
        rest: ({ contact }) => ({ contact_id: contact, memory: "x" }),
        restMessage: "memory: is not a known property. Use full_name, email or phone",
      },
    ),
  }),
];
