// Plans the sessions of an account: their contacts, days, kinds and lengths.
import type { Calendar } from "./calendar.ts";
import type { Person } from "./people.ts";
import type { Profile } from "./profiles.ts";
import { between, chance, createRandom, deck, pick, stableId, type Random } from "./random.ts";
import type { Story } from "./story.ts";

/** A planned session, from which its record is made. */
export interface SessionPlan {
  readonly id: string;
  readonly externalId: string;
  readonly person: Person | undefined;
  /** The start in milliseconds since 1970; undefined if nobody noted the date. */
  readonly start: number | undefined;
  /** The day of the session or, without a date, the day of its creation. */
  readonly day: number;
  readonly minutes: number;
  readonly sort: "first" | "usual" | "review" | "workshop" | "own" | "stray";
  /** The minimum length of its transcript in characters, if that is fixed. */
  readonly length: number | undefined;
}

/** The possible start times, in minutes after midnight UTC. */
const starts = [8.5, 9.25, 10, 11, 11.75, 13, 13.75, 14.5, 15.25, 16, 16.75].map((hour) => hour * 60);

type Draft = Pick<SessionPlan, "person" | "day" | "minutes" | "sort"> & Partial<Pick<SessionPlan, "length">>;

/**
 * Returns the sessions of an account. A person's past sessions are in the order of their days, and no two dated
 * sessions begin at the same time.
 */
export function planSessions(
  profile: string,
  spec: Profile,
  people: readonly Person[],
  storyOf: (person: Person) => Story,
  calendar: Calendar,
): SessionPlan[] {
  const random = createRandom(`${profile}/sessions`);
  const freeStart = createStarts(calendar, random);
  const plans: SessionPlan[] = [];
  const add = (draft: Draft, dated = true): void => {
    const externalId = `${profile}-session-${plans.length}`;
    const start = dated ? freeStart(draft.day) : undefined;
    const day = start === undefined ? draft.day : calendar.dayOf(start);
    plans.push({ length: undefined, ...draft, id: stableId(externalId), externalId, start, day });
  };
  const counts = countSessions(spec, people, random);
  for (const [at, person] of people.entries())
    for (const draft of pastDrafts(person, counts[at] as number, spec, storyOf(person), calendar, random)) add(draft);
  for (let at = 0; at < spec.own; at++) {
    const day = calendar.workday(-between(random, 1, 358));
    add({ person: undefined, day, minutes: between(random, 2, 6) * 15, sort: "own" });
  }
  for (const draft of upcomingDrafts(people, spec, calendar, random)) add(draft);
  const clients = people.filter(({ bond }) => bond === "client");
  for (let at = 0; at < spec.undated; at++) {
    const person = at % 4 === 0 ? pick(random, clients) : undefined;
    const sort = person === undefined ? "stray" : "usual";
    add({ person, day: -between(random, 2, 200), minutes: 0, sort }, false);
  }
  return plans;
}

/** Yields the drafts one at a time, so that the random values of a session are drawn before its start. */
function* pastDrafts(
  person: Person,
  count: number,
  { longTranscripts }: Profile,
  { begin, end }: Story,
  calendar: Calendar,
  random: Random,
): Iterable<Draft> {
  const days = spread(begin, end, count, random);
  const isLong = longTranscripts[person.fullName ?? ""];
  for (const [nth, day] of days.entries()) {
    const length = nth === Math.floor(count / 2) ? isLong : undefined;
    const isReview = nth > 3 && (nth === count - 1 || nth % 6 === 0);
    const sort = length !== undefined ? "workshop" : nth === 0 ? "first" : isReview ? "review" : "usual";
    const minutes =
      length === undefined ? pick(random, [15, 30, 30, 45, 45, 45, 60, 60, 90]) : Math.ceil(length / 12_000) * 15 + 30;
    yield { person, day: calendar.workday(day), minutes, sort, length };
  }
}

function* upcomingDrafts(
  people: readonly Person[],
  spec: Profile,
  calendar: Calendar,
  random: Random,
): Iterable<Draft> {
  const wanted = people.flatMap((person) => Array.from({ length: person.known?.future ?? 0 }, () => person));
  const clients = deck(
    random,
    people.filter(({ bond, archived, known }) => bond === "client" && archived === undefined && known === undefined),
  );
  for (let at = 0; at < spec.upcoming; at++) {
    const person = at === spec.upcoming - 1 && spec.own > 0 ? undefined : (wanted[at] ?? clients());
    const day = calendar.workday(between(random, 1, 30));
    yield { person, day, minutes: pick(random, [30, 45, 60]), sort: person === undefined ? "own" : "usual" };
  }
}

/**
 * Returns a function that finds a free start on a day. If a past day has none left, the start is on an earlier working
 * day.
 */
function createStarts(calendar: Calendar, random: Random): (day: number) => number {
  const taken = new Set<number>();
  return (day) => {
    const from = between(random, 0, starts.length - 1);
    for (let tries = 0; ; tries++) {
      const onDay = day > 0 ? day : calendar.workday(day - Math.floor(tries / starts.length));
      const start = calendar.at(onDay, starts[(from + tries) % starts.length] as number);
      if (taken.has(start)) continue;
      taken.add(start);
      return start;
    }
  };
}

/** Returns the number of past sessions of each person. */
function countSessions(spec: Profile, people: readonly Person[], random: Random): number[] {
  const counts = people.map(({ known }) => known?.past ?? 0);
  const drawn = people.flatMap((person, at) =>
    person.known === undefined && person.bond !== "imported" ? [{ at, bond: person.bond }] : [],
  );
  const clients = drawn.filter(({ bond }) => bond === "client");
  const others = drawn.filter(({ bond }) => bond === "lead" || bond === "partner");
  // Some clients come more often than others.
  const often = clients.filter(() => chance(random, 0.5));
  let left = spec.past - spec.own - counts.reduce((sum, count) => sum + count, 0);
  for (const [nth, { at }] of clients.entries()) {
    if (left > 0 && nth % 9 !== 8) left -= counts[at] = 1;
  }
  while (left > 0) {
    const group =
      others.length > 0 && chance(random, 0.14) ? others : often.length > 0 && chance(random, 0.7) ? often : clients;
    const { at } = pick(random, group);
    if ((counts[at] as number) >= (group === others ? 2 : 13)) continue;
    counts[at] = (counts[at] as number) + 1;
    left -= 1;
  }
  return counts;
}

/** Returns `count` days in order, at roughly equal distances. */
function spread(begin: number, end: number, count: number, random: Random): number[] {
  const gap = (end - begin) / Math.max(1, count);
  return Array.from({ length: count }, (_, nth) =>
    Math.min(end, Math.round(begin + gap * (nth + 0.15 + 0.7 * random()))),
  );
}
