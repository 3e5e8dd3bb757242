// The cases of appending a note to a contact, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { casesOf, creates, forbidden, locked, missing, rejects, unauthenticated, unknown } from "./outcomes.ts";

const emoji = "😀";

export const timelineNoteCases: readonly Case[] = [
  ...casesOf("AppendContactNote", {
    "an append returns the timeline note [CNT-01, CNT-02]": creates(
      ({ contact }) => ({ contact_id: contact, content: "Called" }),
      ({ data }) => expect(data).toMatchObject({ content: "Called", source: "api" }),
    ),
    "an append without content is rejected [CNT-11]": rejects(
      ({ contact }) => ({ contact_id: contact }),
      "content: must not be empty",
      { restMessage: "content: is required" },
    ),
    "a content of 0 characters is rejected [CNT-13]": rejects(
      ({ contact }) => ({ contact_id: contact, content: "" }),
      "content: must not be empty",
    ),
    "a content of 1 character is accepted [CNT-13]": creates(({ contact }) => ({ contact_id: contact, content: "c" })),
    "a content of 10000 emoji is accepted [CNT-14, VAL-11]": creates(
      ({ contact }) => ({ contact_id: contact, content: emoji.repeat(10_000) }),
      ({ data }) => expect(data).toHaveProperty("content", emoji.repeat(10_000)),
    ),
    "a content of 10001 characters is rejected [CNT-14]": rejects(
      ({ contact }) => ({ contact_id: contact, content: "c".repeat(10_001) }),
      "content: must be at most 10000 characters",
    ),
    "an append to an id that is not a UUID is rejected [CNT-08]": rejects(
      { contact_id: "ann", content: "c" },
      "contact_id: must be a valid UUID",
    ),
    "an append to an unknown contact is not found [CNT-06]": missing({ contact_id: unknown, content: "c" }),
    "an append to another account's contact is not found [ISO-02, ISO-05]": missing(({ strangers }) => ({
      contact_id: strangers.contact,
      content: "c",
    })),
    "an append to an archived contact is a conflict [CNT-07, WIR-07]": locked((world) => ({
      contact_id: world.archived,
      content: "c",
    })),
    "an append with a read-only key is denied [CNT-05, AUT-05]": forbidden(({ readers }) => ({
      contact_id: readers.contact,
      content: "c",
    })),
    "an append without a key is unauthenticated [CNT-04]": unauthenticated(({ contact }) => ({
      contact_id: contact,
      content: "c",
    })),
  }),
];
