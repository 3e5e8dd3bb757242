// The amount of data in each account of the demo, and its known people.
import { anchors, knownOfSecond, knownPeople, type KnownPerson } from "./anchors.ts";

/** The accounts, by the first part of their email address. */
export type DemoProfile = "demo" | "second" | "reader" | "enrolled" | "waiting";

/** The amount of data in an account. The actual numbers of sessions and notes are close to these. */
export interface Profile {
  /** The first name of the account's owner. */
  readonly owner: string;
  readonly known: readonly KnownPerson[];
  readonly contacts: number;
  /**
   * Of the contacts, the numbers with a name in another script, imported with an inferred name, without a name, and
   * archived.
   */
  readonly native: number;
  readonly imported: number;
  readonly nameless: number;
  readonly archived: number;
  /** The numbers of past, upcoming and undated sessions, and of past sessions without a client. */
  readonly past: number;
  readonly upcoming: number;
  readonly undated: number;
  readonly own: number;
  readonly contactNotes: number;
  /** The lengths of long transcripts in characters, by the full name of the client. */
  readonly longTranscripts: Readonly<Record<string, number>>;
}

const few = { known: [], contacts: 5, native: 1, imported: 0, nameless: 0, archived: 0, longTranscripts: {} } as const;

/** The accounts of contract §10. */
export const profiles: Readonly<Record<DemoProfile, Profile>> = {
  demo: {
    owner: "Maya",
    known: knownPeople,
    contacts: 400,
    native: 35,
    imported: 30,
    nameless: 3,
    archived: 26,
    past: 490,
    upcoming: 15,
    undated: 8,
    own: 24,
    contactNotes: 700,
    longTranscripts: {
      [anchors.joseAlvarez]: 118_000,
      [anchors.sorenOdegard]: 56_000,
      [anchors.annLee]: 42_000,
      [anchors.lukaszWisniewski]: 31_000,
      [anchors.priyaSharma]: 24_000,
    },
  },
  second: {
    owner: "Tom",
    known: knownOfSecond,
    contacts: 60,
    native: 6,
    imported: 4,
    nameless: 0,
    archived: 4,
    past: 70,
    upcoming: 4,
    undated: 1,
    own: 5,
    contactNotes: 100,
    longTranscripts: { "Anne Lee": 22_000 },
  },
  reader: {
    owner: "Ines",
    known: [],
    contacts: 40,
    native: 4,
    imported: 3,
    nameless: 0,
    archived: 2,
    past: 50,
    upcoming: 3,
    undated: 1,
    own: 3,
    contactNotes: 60,
    longTranscripts: {},
  },
  enrolled: { owner: "Paul", ...few, past: 6, upcoming: 1, undated: 0, own: 0, contactNotes: 6 },
  waiting: { owner: "Rosa", ...few, past: 5, upcoming: 1, undated: 0, own: 0, contactNotes: 5 },
};
