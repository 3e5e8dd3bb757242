// Generates the notes of sessions, of every type, in the order of their positions.
import { timestamp } from "../../db/message.ts";
import type { SessionItem, SessionNoteItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { SessionNoteType } from "../../gen/records/v1/sessions_pb.ts";
import type { Calendar } from "./calendar.ts";
import { later, someTime } from "./calendar.ts";
import { minutesOf } from "./long-notes.ts";
import { between, chance, createRandom, deck, pick, stableId, type Random } from "./random.ts";
import type { SessionPlan } from "./session-plan.ts";
import type { Story } from "./story.ts";
import { fill, slug, type Slots } from "./template.ts";
import texts from "./texts/session-sentences.json" with { type: "json" };

const {
  actionLines,
  assistantNotes,
  decisionLines,
  prepLines,
  readerComments,
  scribbles,
  scribbleTitles,
  summarySentences,
  userTemplates,
} = texts;

/** A note without its position. An undefined title or content is null in the record. */
interface Draft {
  readonly type: SessionNoteType;
  readonly title: string | undefined;
  readonly content: string | undefined;
  /** The time of writing, in milliseconds since 1970. */
  readonly written: number;
}

const { AI_MEETING_PREP, AI_PREDEFINED, USER_TEMPLATE, AI_ASSISTANT, USER_MANUAL, READER_COMMENT } = SessionNoteType;

/** Returns the notes of a session with a client. */
export function sessionNoteItems(
  plan: SessionPlan,
  session: SessionItem,
  story: Story,
  calendar: Calendar,
): SessionNoteItem[] {
  const drafts = plan.day > 0 ? upcomingDrafts(plan, story, calendar) : pastDrafts(plan, session, story, calendar);
  return drafts.map(({ type, title, content, written }, position) => {
    const externalId = `${plan.externalId}-note-${position}`;
    return {
      $typeName: "records.ingest.v1.SessionNoteItem",
      id: stableId(externalId),
      externalId,
      sessionId: plan.id,
      ...(title === undefined ? {} : { title, titleSlug: slug(title) }),
      ...(content === undefined ? {} : { content }),
      position,
      type,
      createdAt: timestamp(new Date(written)),
    };
  });
}

function upcomingDrafts(plan: SessionPlan, story: Story, calendar: Calendar): Draft[] {
  const random = createRandom(`${plan.id}/notes`);
  const slots = story.slotsAt(-1);
  const drafts: Draft[] = [];
  const written = someTime(random, calendar, -between(random, 1, 3));
  if (chance(random, 0.75))
    drafts.push({ type: AI_MEETING_PREP, title: "Meeting prep", content: prep(slots, random), written });
  if (chance(random, 0.35)) {
    const content = fill("Ask {first} first whether {he} managed to {step}.", slots, random);
    drafts.push({ type: USER_MANUAL, title: undefined, content, written: someTime(random, calendar, -1) });
  }
  return drafts;
}

function pastDrafts(
  plan: SessionPlan,
  { recordingStatus, source }: SessionItem,
  story: Story,
  calendar: Calendar,
): Draft[] {
  const random = createRandom(`${plan.id}/notes`);
  const slots = story.slotsAt(plan.day);
  const scribble = deck(random, scribbles);
  const comment = deck(random, readerComments);
  const drafts: Draft[] = [];
  const end = (plan.start ?? someTime(random, calendar, plan.day)) + plan.minutes * 60_000;
  const after = (minutes: number): number => later(random, calendar, end, minutes);
  const add = (
    type: SessionNoteType,
    title: string | undefined,
    content: string | undefined,
    written: number,
  ): void => {
    drafts.push({ type, title, content, written });
  };

  if (source === "calendar" && chance(random, 0.3)) {
    // An undefined content means that the AI found nothing to prepare from.
    add(
      AI_MEETING_PREP,
      "Meeting prep",
      chance(random, 0.08) ? undefined : prep(slots, random),
      Math.min(someTime(random, calendar, plan.day - 1), end),
    );
  }
  if (recordingStatus === "completed" && chance(random, 0.75))
    drafts.push(...recordingDrafts(plan, story, after, random));
  if (chance(random, 0.2)) {
    const { title, parts } = pick(random, userTemplates);
    const content = parts.map(({ heading, text }) => `${heading}: ${fill(text, slots, random)}`).join("\n");
    // An undefined content means that the template was never filled in.
    add(USER_TEMPLATE, title, chance(random, 0.07) ? undefined : content, after(30));
  }
  for (let count = pick(random, [0, 0, 0, 1, 1, 2]); count > 0; count--) {
    const title = chance(random, 0.25) ? fill(pick(random, scribbleTitles), slots, random) : undefined;
    add(USER_MANUAL, title, fill(scribble(), slots, random), after(between(random, 1, 200)));
  }
  if (chance(random, 0.16)) {
    const { title, text } = pick(random, assistantNotes);
    add(
      AI_ASSISTANT,
      chance(random, 0.1) ? undefined : title,
      fill(text, slots, random),
      after(between(random, 20, 1_000)),
    );
  }
  for (let count = chance(random, 0.12) ? between(random, 1, 2) : 0; count > 0; count--) {
    add(READER_COMMENT, undefined, fill(comment(), slots, random), after(between(random, 60, 5_000)));
  }
  return drafts;
}

/** Returns the notes that the AI derived from a recording. */
function recordingDrafts(
  { day, length }: SessionPlan,
  story: Story,
  after: (minutes: number) => number,
  random: Random,
): Draft[] {
  const slots = story.slotsAt(day);
  const drafts: Draft[] = [];
  const add = (title: string, content: string, minutes: number): void =>
    void drafts.push({ type: AI_PREDEFINED, title, content, written: after(minutes) });
  const isLong = length !== undefined || chance(random, 0.14);
  const summary = isLong
    ? minutesOf(story, day, between(random, 1_000, 3_000), random)
    : sentences(summarySentences, between(random, 3, 5), slots, random);
  add("Summary", summary, 6);
  if (chance(random, 0.6)) add("Action items", bullets(actionLines, between(random, 2, 5), slots, random), 6);
  if (chance(random, 0.25)) add("Decisions", bullets(decisionLines, between(random, 1, 3), slots, random), 7);
  return drafts;
}

function prep(slots: Slots, random: Random): string {
  const { last, open, ask, frame } = prepLines;
  const lists = [frame, last, open, ...(chance(random, 0.4) ? [open] : []), ask, ...(chance(random, 0.5) ? [ask] : [])];
  const lines = lists.map((list) => pick(random, list));
  return [...new Set(lines)].map((line) => `- ${fill(line, slots, random)}`).join("\n");
}

function sentences(list: readonly string[], count: number, slots: Slots, random: Random): string {
  const next = deck(random, list);
  return Array.from({ length: count }, () => fill(next(), slots, random)).join(" ");
}

function bullets(list: readonly string[], count: number, slots: Slots, random: Random): string {
  const next = deck(random, list);
  return Array.from({ length: count }, () => `- ${fill(next(), slots, random)}`).join("\n");
}
