// Generates the timeline notes of contacts over the past year.
import { timestamp } from "../../db/message.ts";
import type { ContactNoteItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { endOfCodePoints } from "../../text/text.ts";
import { anchors } from "./anchors.ts";
import type { Calendar } from "./calendar.ts";
import { later, someTime } from "./calendar.ts";
import { collectedNotes } from "./long-notes.ts";
import type { Bond, Person } from "./people.ts";
import { between, chance, createRandom, deck, pick, stableId, type Random } from "./random.ts";
import type { Story } from "./story.ts";
import { fill } from "./template.ts";
import texts from "./texts/contact-sentences.json" with { type: "json" };
import notesByName from "./texts/native-notes.json" with { type: "json" };

/** Notes in the languages of the people they are about: by full name, newest first. */
const nativeNotes: Readonly<Record<string, readonly string[]>> = notesByName;

/** The length of the longest note in code points, which is the limit for appended notes. */
const longest = 10_000;
/** The share of clients with a note that is so long that search truncates it. */
const longShare = 0.12;
/** The maximum number of notes of a person without fixed facts. */
const maxNotes = { client: 14, lead: 3, partner: 4, friend: 3, imported: 1 } as const satisfies Record<Bond, number>;
/** The kinds of people that notes are about. A kind that is listed more often has more notes. */
const kinds: readonly Bond[] = [
  "client",
  "client",
  "client",
  "client",
  "client",
  "client",
  "lead",
  "lead",
  "partner",
  "friend",
];

/** Returns about `total` timeline notes of these people, oldest first for each person. */
export function contactNoteItems(
  profile: string,
  people: readonly Person[],
  storyOf: (person: Person) => Story,
  total: number,
  calendar: Calendar,
): ContactNoteItem[] {
  const counts = countNotes(people, total, createRandom(`${profile}/contact-notes`));
  return people.flatMap((person, at) => {
    const random = createRandom(`${person.id}/notes`);
    const story = storyOf(person);
    const written = fixedTexts(person, story, random);
    const days = Array.from({ length: counts[at] as number }, () => between(random, story.begin, story.end)).sort(
      (a, b) => a - b,
    );
    const template = templatesOf(person.bond, random);
    const texts = days.map(
      (day, nth) => written[days.length - 1 - nth] ?? fill(template(), story.slotsAt(day), random),
    );
    return texts.map((content, nth) =>
      noteItem(`${profile}-contact-note-${at}-${nth}`, person, content, days[nth] as number, random, calendar),
    );
  });
}

/** Returns the number of notes of each person. */
function countNotes(people: readonly Person[], total: number, random: Random): number[] {
  const counts = people.map(
    ({ known, fullName }) =>
      (known?.notes ?? 0) + (known?.ownNotes?.length ?? 0) + (nativeNotes[fullName ?? ""]?.length ?? 0),
  );
  const drawn = people.flatMap(({ bond, known }, at) => (known === undefined ? [{ at, bond }] : []));
  const byKind = new Map(kinds.map((kind) => [kind, drawn.filter(({ bond }) => bond === kind)]));
  let left = total - counts.reduce((sum, count) => sum + count, 0);
  for (let attempts = 20 * total; left > 0 && attempts > 0; attempts--) {
    const candidates = byKind.get(pick(random, kinds)) ?? [];
    if (candidates.length === 0) continue;
    const { at, bond } = pick(random, candidates);
    if ((counts[at] as number) >= maxNotes[bond]) continue;
    counts[at] = (counts[at] as number) + 1;
    left -= 1;
  }
  return counts;
}

/** Returns the texts that are not drawn from the templates of a bond, newest first. */
function fixedTexts(person: Person, story: Story, random: Random): string[] {
  const texts = [...(person.known?.ownNotes ?? []), ...(nativeNotes[person.fullName ?? ""] ?? [])];
  if (person.fullName === anchors.sorenOdegard)
    texts.splice(1, 0, exactly(longest, collectedNotes(story, story.end, longest, random)));
  else if (person.bond === "client" && chance(random, longShare))
    texts.splice(1, 0, collectedNotes(story, story.end - 20, between(random, 1_050, 3_600), random));
  return texts;
}

/** Cuts a longer text to this number of code points, including a final ellipsis. */
function exactly(codePoints: number, text: string): string {
  return `${text.slice(0, endOfCodePoints(text, codePoints - 1))}…`;
}

function templatesOf(bond: Bond, random: Random): () => string {
  const [client, personal] = [deck(random, texts.clientNotes), deck(random, texts.personalNotes)];
  if (bond === "client") return () => (chance(random, 0.78) ? client() : personal());
  if (bond === "partner") return deck(random, texts.partnerNotes);
  return deck(random, bond === "friend" ? texts.friendNotes : texts.leadNotes);
}

function noteItem(
  externalId: string,
  { id }: Person,
  content: string,
  day: number,
  random: Random,
  calendar: Calendar,
): ContactNoteItem {
  const created = someTime(random, calendar, day);
  return {
    $typeName: "records.ingest.v1.ContactNoteItem",
    id: stableId(externalId),
    externalId,
    contactId: id,
    content,
    source: pick(random, ["manual", "manual", "manual", "mobile", "api", "import"]),
    createdAt: timestamp(new Date(created)),
    updatedAt: timestamp(
      new Date(chance(random, 0.1) ? later(random, calendar, created, between(random, 5, 2_000)) : created),
    ),
  };
}
