// The cases of appending a note to a contact, on every wire.
import { expect } from "vitest";
import type { Case } from "../support/run-cases.ts";
import { archived, created, denied, invalid, notFound, unknown, withoutKey } from "./outcomes.ts";

const emoji = "😀";

export const timelineNoteCases: readonly Case[] = [
  {
    title: "an append returns the timeline note [CNT-01, CNT-02]",
    rpc: "AppendContactNote",
    ...created,
    request: ({ contact }) => ({ contact_id: contact, content: "Called" }),
    check: ({ data }) => expect(data).toMatchObject({ content: "Called", source: "api" }),
  },
  {
    title: "an append without content is rejected [CNT-11]",
    rpc: "AppendContactNote",
    ...invalid,
    message: "content: must not be empty",
    restMessage: "content: is required",
    request: ({ contact }) => ({ contact_id: contact }),
  },
  {
    title: "a content of 0 characters is rejected [CNT-13]",
    rpc: "AppendContactNote",
    ...invalid,
    message: "content: must not be empty",
    request: ({ contact }) => ({ contact_id: contact, content: "" }),
  },
  {
    title: "a content of 1 character is accepted [CNT-13]",
    rpc: "AppendContactNote",
    ...created,
    request: ({ contact }) => ({ contact_id: contact, content: "c" }),
  },
  {
    title: "a content of 10000 emoji is accepted [CNT-14, VAL-11]",
    rpc: "AppendContactNote",
    ...created,
    request: ({ contact }) => ({ contact_id: contact, content: emoji.repeat(10_000) }),
    check: ({ data }) => expect(data).toHaveProperty("content", emoji.repeat(10_000)),
  },
  {
    title: "a content of 10001 characters is rejected [CNT-14]",
    rpc: "AppendContactNote",
    ...invalid,
    message: "content: must be at most 10000 characters",
    request: ({ contact }) => ({ contact_id: contact, content: "c".repeat(10_001) }),
  },
  {
    title: "an append to an id that is not a UUID is rejected [CNT-08]",
    rpc: "AppendContactNote",
    ...invalid,
    message: "contact_id: must be a valid UUID",
    request: () => ({ contact_id: "ann", content: "c" }),
  },
  {
    title: "an append to an unknown contact is not found [CNT-06]",
    rpc: "AppendContactNote",
    ...notFound,
    request: () => ({ contact_id: unknown, content: "c" }),
  },
  {
    title: "an append to another account's contact is not found [ISO-02, ISO-05]",
    rpc: "AppendContactNote",
    ...notFound,
    request: ({ strangers }) => ({ contact_id: strangers.contact, content: "c" }),
  },
  {
    title: "an append to an archived contact is a conflict [CNT-07, WIR-07]",
    rpc: "AppendContactNote",
    ...archived,
    request: (world) => ({ contact_id: world.archived, content: "c" }),
  },
  {
    title: "an append with a read-only key is denied [CNT-05, AUT-05]",
    rpc: "AppendContactNote",
    ...denied,
    key: ({ reader }) => reader.key,
    request: ({ readers }) => ({ contact_id: readers.contact, content: "c" }),
  },
  {
    title: "an append without a key is unauthenticated [CNT-04]",
    rpc: "AppendContactNote",
    ...withoutKey,
    key: () => null,
    request: ({ contact }) => ({ contact_id: contact, content: "c" }),
  },
];
