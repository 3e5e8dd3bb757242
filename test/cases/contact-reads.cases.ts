// What the reads of contacts, and UpdateContact with a field mask, come to on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { invalid, notFound, unknown } from "./outcomes.ts";

const unauthenticated = { http: 401, code: "unauthenticated" } as const;
const ok = { http: 200, code: "ok" } as const;

export const contactReadCases: readonly Case[] = [
  // SearchContacts
  {
    title: "a search finds whole contacts of the account alone [CSR-01, ISO-04, WIR-02]",
    rpc: "SearchContacts",
    ...ok,
    request: () => ({ query: "ann" }),
    check: ({ data }, { contact }) => expect((data as { id: string }[]).map(({ id }) => id)).toEqual([contact]),
  },
  {
    title: "a search with a read-only key finds [AUT-05]",
    rpc: "SearchContacts",
    ...ok,
    key: ({ reader }) => reader.key,
    request: () => ({ query: "ann" }),
    check: ({ data }, { readers }) => expect((data as { id: string }[]).map(({ id }) => id)).toEqual([readers.contact]),
  },
  {
    title: "a search without a query is rejected [CSR-03]",
    rpc: "SearchContacts",
    ...invalid,
    restMessage: "query: is required",
    request: () => ({}),
  },
  {
    title: "a contact query of 0 characters is rejected [CSR-05]",
    rpc: "SearchContacts",
    ...invalid,
    request: () => ({ query: "" }),
  },
  {
    title: "a contact query of 1 character is rejected [CSR-05]",
    rpc: "SearchContacts",
    ...invalid,
    message: "query: must be at least 2 characters",
    request: () => ({ query: "a" }),
  },
  {
    title: "a contact query of 1 emoji is rejected, though a JavaScript string counts two [CSR-05, VAL-11]",
    rpc: "SearchContacts",
    ...invalid,
    message: "query: must be at least 2 characters",
    request: () => ({ query: "😀" }),
  },
  {
    title: "a contact query of 2 characters is accepted [CSR-05]",
    rpc: "SearchContacts",
    ...ok,
    request: () => ({ query: "an" }),
    check: ({ data }) => expect(data).toHaveLength(1),
  },
  {
    title: "a contact query of 100 emoji is accepted [CSR-06, VAL-11, SRC-06]",
    rpc: "SearchContacts",
    ...ok,
    request: () => ({ query: "😀".repeat(100) }),
    check: ({ data }) => expect(data).toEqual([]),
  },
  {
    title: "a contact query of 101 characters is rejected [CSR-06]",
    rpc: "SearchContacts",
    ...invalid,
    message: "query: must be at most 100 characters",
    request: () => ({ query: "a".repeat(101) }),
  },
  {
    title: "a contact search without a key is unauthenticated [CSR-02, WIR-05]",
    rpc: "SearchContacts",
    ...unauthenticated,
    reason: "MISSING_KEY",
    key: () => null,
    request: () => ({ query: "ann" }),
  },
  {
    title: "a contact search with a key that is none is unauthenticated [AUT-01, WIR-05]",
    rpc: "SearchContacts",
    ...unauthenticated,
    reason: "INVALID_KEY",
    key: () => "rec_nonsense",
    request: () => ({ query: "ann" }),
  },

  // GetContact
  {
    title: "a contact comes whole [CGT-01, WIR-02]",
    rpc: "GetContact",
    ...ok,
    request: ({ contact }) => ({ contact_id: contact }),
    check: ({ data }, { contact }) =>
      expect(data).toMatchObject({
        id: contact,
        memory: "Likes tea.",
        notes: "VIP",
        notes_timeline: [{ source: "import" }],
        recent_sessions: [{ title: "Budget", session_date: "2026-01-31T09:30:00.000Z" }],
      }),
  },
  {
    title: "an archived contact comes with the time of its archiving [CGT-08]",
    rpc: "GetContact",
    ...ok,
    request: ({ archived }) => ({ contact_id: archived }),
    check: ({ data }) => expect(data).toMatchObject({ archived_at: "2026-01-02T03:04:05.000Z" }),
  },
  {
    title: "a contact's id in upper case is accepted and returned in lower case [VAL-16, FMT-05]",
    rpc: "GetContact",
    ...ok,
    request: ({ contact }) => ({ contact_id: contact.toUpperCase() }),
    check: ({ data }, { contact }) => expect(data).toHaveProperty("id", contact),
  },
  {
    title: "an unknown contact is not found [CGT-03, WIR-06]",
    rpc: "GetContact",
    ...notFound,
    request: () => ({ contact_id: unknown }),
  },
  {
    title: "another account's contact is not found [ISO-01, ISO-05]",
    rpc: "GetContact",
    ...notFound,
    request: ({ strangers }) => ({ contact_id: strangers.contact }),
  },
  {
    title: "a session's id is no contact's [CGT-03]",
    rpc: "GetContact",
    ...notFound,
    request: ({ session }) => ({ contact_id: session }),
  },
  {
    title: "what is no uuid is rejected as a contact's id [CGT-04]",
    rpc: "GetContact",
    ...invalid,
    request: () => ({ contact_id: "3f2504e04f8941d39a0c0305e82c3301" }),
  },
  {
    title: "a contact without a key is unauthenticated [CGT-02]",
    rpc: "GetContact",
    ...unauthenticated,
    reason: "MISSING_KEY",
    key: () => null,
    request: ({ contact }) => ({ contact_id: contact }),
  },
];

/** A mask does over RPC what the presence of a property does in a PATCH. */
export const fieldMaskCases: readonly Case[] = [
  {
    title: "what the mask names and is set is changed, the rest stays [WIR-10, CUP-14]",
    rpc: "UpdateContact",
    ...ok,
    volatile: ["updated_at"],
    rest: ({ contact }) => ({ contact_id: contact, phone: "555" }),
    request: ({ contact }) => ({
      contact_id: contact,
      phone: "555",
      full_name: "Not taken over",
      update_mask: "phone",
    }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: "555", email: "Taken@Example.com" }),
  },
  {
    title: "a phone that the mask names and is not set is cleared, as null clears it [WIR-10, CUP-14]",
    rpc: "UpdateContact",
    ...ok,
    volatile: ["updated_at"],
    rest: ({ contact }) => ({ contact_id: contact, phone: null }),
    request: ({ contact }) => ({ contact_id: contact, update_mask: "phone" }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: null, email: "Taken@Example.com" }),
  },
  {
    title: "an email that the mask names and is not set is cleared, as null clears it [WIR-10, CUP-14]",
    rpc: "UpdateContact",
    ...ok,
    volatile: ["updated_at"],
    rest: ({ contact }) => ({ contact_id: contact, email: null }),
    request: ({ contact }) => ({ contact_id: contact, update_mask: "email" }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", email: null }),
  },
  {
    title: "without a mask what is set is changed [WIR-10]",
    rpc: "UpdateContact",
    ...ok,
    volatile: ["updated_at"],
    request: ({ contact, taken }) => ({ contact_id: contact, email: taken, phone: "1" }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", email: "Taken@Example.com", phone: "1" }),
  },
  {
    title: "the mask * changes every field, and clears what is not set [WIR-11]",
    rpc: "UpdateContact",
    ...ok,
    volatile: ["updated_at"],
    rest: ({ contact, taken }) => ({ contact_id: contact, full_name: "Ann Lee", phone: null, email: taken }),
    request: ({ contact, taken }) => ({ contact_id: contact, full_name: "Ann Lee", email: taken, update_mask: "*" }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: null, email: "Taken@Example.com" }),
  },
  {
    title: "the mask * cannot clear full_name [WIR-11, CUP-12]",
    rpc: "UpdateContact",
    ...invalid,
    rest: ({ contact }) => ({ contact_id: contact, full_name: null }),
    restMessage: "full_name: must not be null",
    request: ({ contact }) => ({ contact_id: contact, phone: "9", update_mask: "*" }),
  },
  {
    title: "what is wrong outside of the mask is ignored [WIR-11]",
    rpc: "UpdateContact",
    ...ok,
    volatile: ["updated_at"],
    rest: ({ contact }) => ({ contact_id: contact, phone: "9" }),
    request: ({ contact }) => ({
      contact_id: contact,
      full_name: "x".repeat(201),
      email: "no email",
      phone: "9",
      update_mask: "phone",
    }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Ann Lee", phone: "9" }),
  },
  {
    title: "full_name cannot be cleared [WIR-10, CUP-12]",
    rpc: "UpdateContact",
    ...invalid,
    rest: ({ contact }) => ({ contact_id: contact, full_name: null }),
    restMessage: "full_name: must not be null",
    request: ({ contact }) => ({ contact_id: contact, update_mask: "fullName" }),
  },
  {
    title: "a mask that names what is no field of the update is rejected, as a PATCH of it [WIR-10, CUP-11]",
    rpc: "UpdateContact",
    ...invalid,
    rest: ({ contact }) => ({ contact_id: contact, memory: "x" }),
    restMessage: "memory: is not a known property. Use full_name, email or phone",
    request: ({ contact }) => ({ contact_id: contact, update_mask: "memory" }),
  },
];
