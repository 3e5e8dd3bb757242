// Generates the demo's records: fictional contacts, sessions, transcripts and notes of the past year, always the same.
import type {
  ContactItem,
  ContactNoteItem,
  SessionItem,
  SessionNoteItem,
  TranscriptItem,
} from "../../gen/records/ingest/v1/items_pb.ts";
import { createCalendar } from "./calendar.ts";
import { contactNoteItems } from "./contact-notes.ts";
import { contactItem } from "./contacts.ts";
import { createPeople, type Person } from "./people.ts";
import { profiles, type DemoProfile } from "./profiles.ts";
import { planSessions } from "./session-plan.ts";
import { sessionNoteItems } from "./session-notes.ts";
import { createSessionWriter } from "./sessions.ts";
import { createStory, type Story } from "./story.ts";
import { transcriptItem } from "./transcripts.ts";

export type { DemoProfile } from "./profiles.ts";

/** The records of an account. Ingest them in this order: contacts, sessions, then the others. */
export interface DemoRecords {
  contacts: ContactItem[];
  sessions: SessionItem[];
  transcripts: TranscriptItem[];
  sessionNotes: SessionNoteItem[];
  contactNotes: ContactNoteItem[];
}

/**
 * Returns the records of a demo account on the UTC day of `now`, always the same for the same day. Another day has the
 * same people and the same ids of contacts and sessions, so filling the account again overwrites them.
 */
export function demoRecords(profile: DemoProfile, now: Date): DemoRecords {
  const spec = profiles[profile];
  const calendar = createCalendar(now);
  const people = createPeople(profile);
  const stories = new Map<Person, Story>(people.map((person) => [person, createStory(person, spec.owner, calendar)]));
  const storyOf = (person: Person): Story => stories.get(person) as Story;

  const contacts = people.map((person, at) =>
    contactItem(person, storyOf(person), `${profile}-contact-${at}`, calendar),
  );
  const plans = planSessions(profile, spec, people, storyOf, calendar);
  const writeSession = createSessionWriter(profile, ({ person }) => person && storyOf(person), calendar);
  const written = plans.map((plan) => ({
    plan,
    session: writeSession(plan),
    story: plan.person && storyOf(plan.person),
  }));
  return {
    contacts,
    sessions: written.map(({ session }) => session),
    transcripts: written.flatMap(
      ({ plan, session, story }) => (story && transcriptItem(plan, session, story, spec.owner)) ?? [],
    ),
    sessionNotes: written.flatMap(({ plan, session, story }) =>
      story ? sessionNoteItems(plan, session, story, calendar) : [],
    ),
    contactNotes: contactNoteItems(profile, people, storyOf, spec.contactNotes, calendar),
  };
}
