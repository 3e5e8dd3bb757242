// The cases of creating and updating a contact, on every wire.
import { expect } from "vitest";
import type { Case, World } from "../support/run-cases.ts";
import {
  casesOf,
  creates,
  fails,
  forbidden,
  locked,
  missing,
  rejects,
  unauthenticated,
  unknown,
  updates,
} from "./outcomes.ts";

const emoji = "😀";

const taken = (request: (world: World) => { readonly email: string }) =>
  fails(request, {
    http: 409,
    code: "already_exists",
    reason: "DUPLICATE_EMAIL",
    message: "The email is already used by another active contact. Choose another email or update that contact.",
  });

/** An address of exactly this many characters. */
const emailOf = (length: number, world: World): string =>
  `${`${world.fresh()}${"a".repeat(length)}`.slice(0, length - 12)}@example.com`;

export const contactWriteCases: readonly Case[] = [
  ...casesOf("CreateContact", {
    "a create returns the whole contact [CCR-01, WIR-02, WIR-04]": creates(
      (world) => ({ full_name: "Bo Chen", email: `${world.fresh()}@example.com`, phone: "555" }),
      ({ data }) =>
        expect(data).toMatchObject({
          full_name: "Bo Chen",
          phone: "555",
          archived_at: null,
          notes_timeline: [],
          recent_sessions: [],
        }),
    ),
    "a create needs no email and no phone [CCR-14]": creates({ full_name: "Bo" }, ({ data }) =>
      expect(data).toMatchObject({ full_name: "Bo", email: null, phone: null }),
    ),
    "a create accepts null for email and phone [CCR-14, VAL-17]": creates(
      { full_name: "Bo", email: null, phone: null },
      ({ data }) => expect(data).toMatchObject({ email: null, phone: null }),
    ),
    "a create without full_name is rejected [CCR-11, WIR-06]": rejects(
      { email: null },
      "full_name: must not be empty",
      { restMessage: "full_name: is required" },
    ),
    "a full_name of 0 characters is rejected at create [CCR-12]": rejects(
      { full_name: "" },
      "full_name: must not be empty",
    ),
    "a full_name of 1 character is accepted at create [CCR-12]": creates({ full_name: "B" }),
    "a full_name of 200 emoji is accepted at create [CCR-13, VAL-11]": creates(
      { full_name: emoji.repeat(200) },
      ({ data }) => expect(data).toHaveProperty("full_name", emoji.repeat(200)),
    ),
    "a full_name of 201 characters is rejected at create [CCR-13, ERR-02]": rejects(
      { full_name: "a".repeat(201) },
      "full_name: must be at most 200 characters",
    ),
    "a full_name of 201 emoji is rejected at create [CCR-13, VAL-11]": rejects(
      { full_name: emoji.repeat(201) },
      "full_name: must be at most 200 characters",
    ),
    "an email of 254 characters is accepted [CCR-15]": creates(
      (world) => ({ full_name: "Bo", email: emailOf(254, world) }),
      ({ data }) => expect((data as { email: string }).email).toHaveLength(254),
    ),
    "an email of 255 characters is rejected [CCR-15, ERR-02]": rejects(
      (world) => ({ full_name: "Bo", email: emailOf(255, world) }),
      "email: must be at most 254 characters",
    ),
    ...Object.fromEntries(
      ["", "a", "a@b", "a@b.", "@b.c", "a b@c.d", "a@b@c.d", "a@b.c ", "a\n@b.c", "a\u00a0@b.c"].map((email) => [
        `the email ${JSON.stringify(email)} is rejected [CCR-16]`,
        rejects({ full_name: "Bo", email }, "email: must be an email address such as name@example.com"),
      ]),
    ),
    "an email of the shortest form is accepted [CCR-16]": creates((world) => ({
      full_name: "Bo",
      email: `${world.fresh()}@b.c`,
    })),
    "a phone of 0 characters is accepted [CCR-17]": creates({ full_name: "Bo", phone: "" }, ({ data }) =>
      expect(data).toHaveProperty("phone", ""),
    ),
    "a phone of 50 emoji is accepted: it has no pattern [CCR-17, VAL-11]": creates({
      full_name: "Bo",
      phone: emoji.repeat(50),
    }),
    "a phone of 51 characters is rejected [CCR-17]": rejects(
      { full_name: "Bo", phone: "1".repeat(51) },
      "phone: must be at most 50 characters",
    ),
    "every violation is named [ERR-03]": rejects(
      { full_name: "a".repeat(201), email: "x", phone: "1".repeat(51) },
      "full_name: must be at most 200 characters; email: must be an email address such as name@example.com; phone: must be at most 50 characters",
    ),
    "an email of another active contact is a conflict, in upper or lower case [CCR-06, UNI-01, WIR-07]": taken(
      (world) => ({ full_name: "Bo", email: world.taken.toUpperCase() }),
    ),
    "a create with a read-only key is denied [CCR-04, AUT-05, WIR-06]": forbidden({ full_name: "Bo" }),
    "a create without a key is unauthenticated [CCR-03, WIR-05]": unauthenticated({ full_name: "Bo" }),
    "an idempotency key of another request is a conflict [WIR-07]": fails(
      { full_name: "Another" },
      {
        http: 409,
        code: "aborted",
        reason: "IDEMPOTENCY_KEY_REUSED",
        message: "The Idempotency-Key was already used with another request. Use a new key.",
        idempotencyKey: () => "used-before",
      },
    ),
  }),
  ...casesOf("UpdateContact", {
    "an update returns the whole updated contact [CUP-01, WIR-10]": updates(
      ({ contact }) => ({ contact_id: contact, phone: "+44 20" }),
      ({ data }) =>
        expect(data).toMatchObject({
          full_name: "Ann Lee",
          email: "Taken@Example.com",
          phone: "+44 20",
          memory: "Likes tea.",
        }),
    ),
    "an update with the id in upper case is accepted [VAL-16]": updates(
      ({ contact }) => ({ contact_id: contact.toUpperCase(), full_name: "Ann Lee" }),
      ({ data }, { contact }) => expect(data).toHaveProperty("id", contact),
    ),
    "an update accepts the email that the contact has [CUP-05]": updates(({ contact, taken }) => ({
      contact_id: contact,
      email: taken,
    })),
    "an empty update is rejected [CUP-10, WIR-10]": rejects(
      ({ contact }) => ({ contact_id: contact }),
      "update_mask: the update must change at least one of full_name, email, phone",
      { restMessage: "the body must have at least one property: full_name, email, phone" },
    ),
    "an update to a full_name of 0 characters is rejected [CUP-12]": rejects(
      ({ contact }) => ({ contact_id: contact, full_name: "" }),
      "full_name: must be at least 1 character",
    ),
    "an update to a full_name of 201 characters is rejected [CUP-12]": rejects(
      ({ contact }) => ({ contact_id: contact, full_name: "a".repeat(201) }),
      "full_name: must be at most 200 characters",
    ),
    "an update to an email of 255 characters is rejected [CUP-13]": rejects(
      (world) => ({ contact_id: world.contact, email: emailOf(255, world) }),
      "email: must be at most 254 characters",
    ),
    "an update to an invalid email is rejected [CUP-13]": rejects(
      ({ contact }) => ({ contact_id: contact, email: "" }),
      "email: must be an email address such as name@example.com",
    ),
    "an update to a phone of 51 characters is rejected [CUP-13]": rejects(
      ({ contact }) => ({ contact_id: contact, phone: "1".repeat(51) }),
      "phone: must be at most 50 characters",
    ),
    "an update of an id that is not a UUID is rejected [CUP-07]": rejects(
      { contact_id: "ann", full_name: "Ann" },
      "contact_id: must be a valid UUID",
    ),
    "an update of an unknown contact is not found [CUP-04, WIR-06]": missing({ contact_id: unknown, full_name: "Ann" }),
    "an update of another account's contact is not found [ISO-02, ISO-05]": missing(({ strangers }) => ({
      contact_id: strangers.contact,
      full_name: "Ann",
    })),
    "an update of an archived contact is a conflict [CUP-06, WIR-07]": locked((world) => ({
      contact_id: world.archived,
      full_name: "Ann",
    })),
    "an update to the email of another active contact is a conflict [CUP-05, WIR-07]": taken(({ contact }) => ({
      contact_id: contact,
      email: "OTHER@example.com",
    })),
    "an update with a read-only key is denied [CUP-03, AUT-05]": forbidden(({ readers }) => ({
      contact_id: readers.contact,
      full_name: "Ann",
    })),
    "an update without a key is unauthenticated [CUP-02]": unauthenticated(({ contact }) => ({
      contact_id: contact,
      full_name: "Ann",
    })),
  }),
];
