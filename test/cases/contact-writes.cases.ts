// The cases of creating and updating a contact, on every wire.
import { expect } from "vitest";
import type { Case, World } from "../support/run-cases.ts";
import { archived, created, denied, invalid, notFound, unknown, withoutKey } from "./outcomes.ts";

const ok = { http: 200, code: "ok", volatile: ["updated_at"] } as const;
const duplicate = {
  http: 409,
  code: "already_exists",
  reason: "DUPLICATE_EMAIL",
  message: "The email is already used by another active contact. Choose another email or update that contact.",
} as const;
const emoji = "😀";

/** An address of exactly this many characters. */
const emailOf = (length: number, world: World): string =>
  `${`${world.fresh()}${"a".repeat(length)}`.slice(0, length - 12)}@example.com`;

export const contactWriteCases: readonly Case[] = [
  // CreateContact
  {
    title: "a create returns the whole contact [CCR-01, WIR-02, WIR-04]",
    rpc: "CreateContact",
    ...created,
    request: (world) => ({ full_name: "Bo Chen", email: `${world.fresh()}@example.com`, phone: "555" }),
    check: ({ data }) =>
      expect(data).toMatchObject({
        full_name: "Bo Chen",
        phone: "555",
        archived_at: null,
        notes_timeline: [],
        recent_sessions: [],
      }),
  },
  {
    title: "a create needs no email and no phone [CCR-14]",
    rpc: "CreateContact",
    ...created,
    request: () => ({ full_name: "Bo" }),
    check: ({ data }) => expect(data).toMatchObject({ full_name: "Bo", email: null, phone: null }),
  },
  {
    title: "a create accepts null for email and phone [CCR-14, VAL-17]",
    rpc: "CreateContact",
    ...created,
    request: () => ({ full_name: "Bo", email: null, phone: null }),
    check: ({ data }) => expect(data).toMatchObject({ email: null, phone: null }),
  },
  {
    title: "a create without full_name is rejected [CCR-11, WIR-06]",
    rpc: "CreateContact",
    ...invalid,
    message: "full_name: must not be empty",
    restMessage: "full_name: is required",
    request: () => ({ email: null }),
  },
  {
    title: "a full_name of 0 characters is rejected at create [CCR-12]",
    rpc: "CreateContact",
    ...invalid,
    message: "full_name: must not be empty",
    request: () => ({ full_name: "" }),
  },
  {
    title: "a full_name of 1 character is accepted at create [CCR-12]",
    rpc: "CreateContact",
    ...created,
    request: () => ({ full_name: "B" }),
  },
  {
    title: "a full_name of 200 emoji is accepted at create [CCR-13, VAL-11]",
    rpc: "CreateContact",
    ...created,
    request: () => ({ full_name: emoji.repeat(200) }),
    check: ({ data }) => expect(data).toHaveProperty("full_name", emoji.repeat(200)),
  },
  {
    title: "a full_name of 201 characters is rejected at create [CCR-13, ERR-02]",
    rpc: "CreateContact",
    ...invalid,
    message: "full_name: must be at most 200 characters",
    request: () => ({ full_name: "a".repeat(201) }),
  },
  {
    title: "a full_name of 201 emoji is rejected at create [CCR-13, VAL-11]",
    rpc: "CreateContact",
    ...invalid,
    message: "full_name: must be at most 200 characters",
    request: () => ({ full_name: emoji.repeat(201) }),
  },
  {
    title: "an email of 254 characters is accepted [CCR-15]",
    rpc: "CreateContact",
    ...created,
    request: (world) => ({ full_name: "Bo", email: emailOf(254, world) }),
    check: ({ data }) => expect((data as { email: string }).email).toHaveLength(254),
  },
  {
    title: "an email of 255 characters is rejected [CCR-15, ERR-02]",
    rpc: "CreateContact",
    ...invalid,
    message: "email: must be at most 254 characters",
    request: (world) => ({ full_name: "Bo", email: emailOf(255, world) }),
  },
  ...["", "a", "a@b", "a@b.", "@b.c", "a b@c.d", "a@b@c.d", "a@b.c ", "a\n@b.c", "a\u00a0@b.c"].map(
    (email): Case => ({
      title: `the email ${JSON.stringify(email)} is rejected [CCR-16]`,
      rpc: "CreateContact",
      ...invalid,
      message: "email: must be an email address such as name@example.com",
      request: () => ({ full_name: "Bo", email }),
    }),
  ),
  {
    title: "an email of the shortest form is accepted [CCR-16]",
    rpc: "CreateContact",
    ...created,
    request: (world) => ({ full_name: "Bo", email: `${world.fresh()}@b.c` }),
  },
  {
    title: "a phone of 0 characters is accepted [CCR-17]",
    rpc: "CreateContact",
    ...created,
    request: () => ({ full_name: "Bo", phone: "" }),
    check: ({ data }) => expect(data).toHaveProperty("phone", ""),
  },
  {
    title: "a phone of 50 emoji is accepted: it has no pattern [CCR-17, VAL-11]",
    rpc: "CreateContact",
    ...created,
    request: () => ({ full_name: "Bo", phone: emoji.repeat(50) }),
  },
  {
    title: "a phone of 51 characters is rejected [CCR-17]",
    rpc: "CreateContact",
    ...invalid,
    message: "phone: must be at most 50 characters",
    request: () => ({ full_name: "Bo", phone: "1".repeat(51) }),
  },
  {
    title: "every violation is named [ERR-03]",
    rpc: "CreateContact",
    ...invalid,
    message:
      "full_name: must be at most 200 characters; email: must be an email address such as name@example.com; phone: must be at most 50 characters",
    request: () => ({ full_name: "a".repeat(201), email: "x", phone: "1".repeat(51) }),
  },
  {
    title: "an email of another active contact is a conflict, in upper or lower case [CCR-06, UNI-01, WIR-07]",
    rpc: "CreateContact",
    ...duplicate,
    request: (world) => ({ full_name: "Bo", email: world.taken.toUpperCase() }),
  },
  {
    title: "a create with a read-only key is denied [CCR-04, AUT-05, WIR-06]",
    rpc: "CreateContact",
    ...denied,
    key: ({ reader }) => reader.key,
    request: () => ({ full_name: "Bo" }),
  },
  {
    title: "a create without a key is unauthenticated [CCR-03, WIR-05]",
    rpc: "CreateContact",
    ...withoutKey,
    key: () => null,
    request: () => ({ full_name: "Bo" }),
  },
  {
    title: "an idempotency key of another request is a conflict [WIR-07]",
    rpc: "CreateContact",
    http: 409,
    code: "aborted",
    reason: "IDEMPOTENCY_KEY_REUSED",
    message: "The Idempotency-Key was already used with another request. Use a new key.",
    idempotencyKey: () => "used-before",
    request: () => ({ full_name: "Another" }),
  },

  // UpdateContact
  {
    title: "an update returns the whole updated contact [CUP-01, WIR-10]",
    rpc: "UpdateContact",
    ...ok,
    request: ({ contact }) => ({ contact_id: contact, phone: "+44 20" }),
    check: ({ data }) =>
      expect(data).toMatchObject({
        full_name: "Ann Lee",
        email: "Taken@Example.com",
        phone: "+44 20",
        memory: "Likes tea.",
      }),
  },
  {
    title: "an update with the id in upper case is accepted [VAL-16]",
    rpc: "UpdateContact",
    ...ok,
    request: ({ contact }) => ({ contact_id: contact.toUpperCase(), full_name: "Ann Lee" }),
    check: ({ data }, { contact }) => expect(data).toHaveProperty("id", contact),
  },
  {
    title: "an update accepts the email that the contact has [CUP-05]",
    rpc: "UpdateContact",
    ...ok,
    request: ({ contact, taken }) => ({ contact_id: contact, email: taken }),
  },
  {
    title: "an empty update is rejected [CUP-10, WIR-10]",
    rpc: "UpdateContact",
    ...invalid,
    message: "update_mask: the update must change at least one of full_name, email, phone",
    restMessage: "the body must have at least one property: full_name, email, phone",
    request: ({ contact }) => ({ contact_id: contact }),
  },
  {
    title: "an update to a full_name of 0 characters is rejected [CUP-12]",
    rpc: "UpdateContact",
    ...invalid,
    message: "full_name: must be at least 1 character",
    request: ({ contact }) => ({ contact_id: contact, full_name: "" }),
  },
  {
    title: "an update to a full_name of 201 characters is rejected [CUP-12]",
    rpc: "UpdateContact",
    ...invalid,
    message: "full_name: must be at most 200 characters",
    request: ({ contact }) => ({ contact_id: contact, full_name: "a".repeat(201) }),
  },
  {
    title: "an update to an email of 255 characters is rejected [CUP-13]",
    rpc: "UpdateContact",
    ...invalid,
    message: "email: must be at most 254 characters",
    request: (world) => ({ contact_id: world.contact, email: emailOf(255, world) }),
  },
  {
    title: "an update to an invalid email is rejected [CUP-13]",
    rpc: "UpdateContact",
    ...invalid,
    message: "email: must be an email address such as name@example.com",
    request: ({ contact }) => ({ contact_id: contact, email: "" }),
  },
  {
    title: "an update to a phone of 51 characters is rejected [CUP-13]",
    rpc: "UpdateContact",
    ...invalid,
    message: "phone: must be at most 50 characters",
    request: ({ contact }) => ({ contact_id: contact, phone: "1".repeat(51) }),
  },
  {
    title: "an update of an id that is not a UUID is rejected [CUP-07]",
    rpc: "UpdateContact",
    ...invalid,
    message: "contact_id: must be a valid UUID",
    request: () => ({ contact_id: "ann", full_name: "Ann" }),
  },
  {
    title: "an update of an unknown contact is not found [CUP-04, WIR-06]",
    rpc: "UpdateContact",
    ...notFound,
    request: () => ({ contact_id: unknown, full_name: "Ann" }),
  },
  {
    title: "an update of another account's contact is not found [ISO-02, ISO-05]",
    rpc: "UpdateContact",
    ...notFound,
    request: ({ strangers }) => ({ contact_id: strangers.contact, full_name: "Ann" }),
  },
  {
    title: "an update of an archived contact is a conflict [CUP-06, WIR-07]",
    rpc: "UpdateContact",
    ...archived,
    request: (world) => ({ contact_id: world.archived, full_name: "Ann" }),
  },
  {
    title: "an update to the email of another active contact is a conflict [CUP-05, WIR-07]",
    rpc: "UpdateContact",
    ...duplicate,
    request: ({ contact }) => ({ contact_id: contact, email: "OTHER@example.com" }),
  },
  {
    title: "an update with a read-only key is denied [CUP-03, AUT-05]",
    rpc: "UpdateContact",
    ...denied,
    key: ({ reader }) => reader.key,
    request: ({ readers }) => ({ contact_id: readers.contact, full_name: "Ann" }),
  },
  {
    title: "an update without a key is unauthenticated [CUP-02]",
    rpc: "UpdateContact",
    ...withoutKey,
    key: () => null,
    request: ({ contact }) => ({ contact_id: contact, full_name: "Ann" }),
  },
];
