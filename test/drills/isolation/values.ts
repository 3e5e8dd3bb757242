// Values for a field by its name: the caller's own, another account's and unknown ones.
import { randomUUID } from "node:crypto";
import type { User } from "./users.ts";
import { newPhone, newWord } from "./users.ts";

/** Two values that must get the same response: one of another account and one that does not exist. */
export interface Pair {
  readonly what: string;
  readonly foreign: string | number | boolean;
  readonly absent: string | number | boolean;
}

/** The test values of a field. */
export interface Values {
  readonly own: unknown;
  readonly pairs: readonly Pair[];
}

/** The test values of a field; undefined if its name is unknown. */
export function valuesOf(name: string, own: User, other: User): Values | undefined {
  switch (name) {
    case "contact_id":
      return { own: own.ids.contact, pairs: idPairs(other) };
    case "session_id":
      return { own: own.ids.session, pairs: idPairs(other) };
    case "id":
      return {
        own: `contact:${own.ids.contact}`,
        pairs: ["contact", "session"].flatMap((kind) => idPairs(other).map((pair) => within(pair, `${kind}:`))),
      };
    case "uri":
      return {
        own: `contact://${own.ids.contact}`,
        pairs: ["contact://", "session://", ""].flatMap((scheme) => idPairs(other).map((pair) => within(pair, scheme))),
      };
    case "query":
    case "contact":
    case "topic":
      return { own: own.mark, pairs: [...wordPairs(other), ...idPairs(other).slice(0, 2)] };
    case "contact_name":
      return { own: own.mark, pairs: wordPairs(other) };
    case "state":
      return { own: "any", pairs: ["active", "archived", "any"].map((state) => alike("the state", state)) };
    case "kind":
      return { own: "contact", pairs: ["contact", "session"].map((kind) => alike("the kind", kind)) };
    case "has_email":
    case "has_transcript":
    case "has_notes":
    case "any_word":
    case "brief":
    case "in_notes":
    case "with_context":
    case "with_snippet":
      return { own: true, pairs: [true, false].map((is) => alike(name, is)) };
    case "from":
      return {
        own: "2000-01-01",
        pairs: [
          {
            what: "a day before another account's session",
            foreign: `${other.years.future}-01-01`,
            absent: `${other.years.future + 1}-01-01`,
          },
        ],
      };
    case "to":
    case "last_session_before":
      return {
        own: "2029-01-01",
        pairs: [
          {
            what: "a day after another account's session",
            foreign: `${other.years.past}-12-31`,
            absent: `${other.years.past - 1}-12-31`,
          },
        ],
      };
    case "note_type":
      return { own: "user_manual", pairs: ["user_manual", "reader_comment"].map((type) => alike("the type", type)) };
    case "phone_ends_with":
      return { own: "00", pairs: ["00", "11"].map((digits) => alike("the digits", digits)) };
    case "order":
      return { own: "soonest", pairs: ["newest", "soonest"].map((order) => alike("the order", order)) };
    case "limit":
      return { own: 25, pairs: [{ what: "the smallest page", foreign: 1, absent: 1 }] };
    case "offset":
      return {
        own: 0,
        pairs: [1, 2, 1_000].map((offset) => ({ what: "a later page", foreign: offset, absent: offset })),
      };
    case "full_name":
    case "content":
      return { own: newWord(), pairs: wordPairs(other).slice(0, 2) };
    case "email":
      return {
        own: `${newWord()}@example.org`,
        pairs: [{ what: "another account's email", foreign: other.email, absent: `${newWord()}@contact.example` }],
      };
    case "phone":
      return {
        own: newPhone(),
        pairs: [{ what: "another account's phone", foreign: other.phone, absent: newPhone() }],
      };
    case "access":
      return { own: "read_write", pairs: [] };
    default:
      return undefined;
  }
}

/** A pair of equal values, for fields that do not name a record. */
function alike(what: string, value: string | boolean): Pair {
  return { what, foreign: value, absent: value };
}

/** Every id of another account, in lowercase and uppercase. The first two are the most important. */
export function idPairs(other: User): Pair[] {
  const { contact, session, ...others } = other.ids;
  const ids = Object.entries({ contact, session, ...others, account: other.accountId });
  return [
    ...ids.map(([kind, id]) => ({ what: `the id of another account's ${kind}`, foreign: id, absent: randomUUID() })),
    ...ids.map(([kind, id]) => ({
      what: `the id of another account's ${kind} in uppercase`,
      foreign: id.toUpperCase(),
      absent: randomUUID().toUpperCase(),
    })),
  ];
}

export function externalIdPairs(other: User): Pair[] {
  return Object.entries(other.externalIds).map(([kind, id]) => ({
    what: `the external id of another account's ${kind}`,
    foreign: id,
    absent: id.replace(other.mark, newWord()),
  }));
}

function wordPairs(other: User): Pair[] {
  return [
    { what: "a word unique to another account", foreign: other.mark, absent: newWord() },
    { what: "words of another account's name", foreign: `${other.mark} name`, absent: `${newWord()} name` },
    { what: "the start of another account's word", foreign: other.mark.slice(0, 8), absent: newWord().slice(0, 8) },
    { what: "another account's email", foreign: other.email, absent: `${newWord()}@contact.example` },
    { what: "another account's phone", foreign: other.phone, absent: newPhone() },
    { what: "the digits of another account's phone", foreign: other.phone.slice(3), absent: newPhone().slice(3) },
  ];
}

function within({ what, foreign, absent }: Pair, prefix: string): Pair {
  return { what: `${prefix}${what}`, foreign: `${prefix}${foreign}`, absent: `${prefix}${absent}` };
}
