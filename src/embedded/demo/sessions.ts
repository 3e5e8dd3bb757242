// Generates the sessions of the demo.
import { timestamp } from "../../db/message.ts";
import type { SessionItem } from "../../gen/records/ingest/v1/items_pb.ts";
import type { Calendar } from "./calendar.ts";
import { later, someTime } from "./calendar.ts";
import { between, chance, createRandom, deck, pick, type Random } from "./random.ts";
import type { SessionPlan } from "./session-plan.ts";
import type { Story } from "./story.ts";
import { fill } from "./template.ts";
import texts from "./texts/session-sentences.json" with { type: "json" };

/** The origin of a session. */
type Source = "calendar" | "manual" | "import" | "recorder";
/** The status of a session's recording; unset if no recording was planned. */
type RecordingStatus = "none" | "scheduled" | "recording" | "processing" | "completed" | "failed";

/**
 * Returns a function that makes sessions from plans. Titles come from decks of the account, so that they rarely repeat.
 */
export function createSessionWriter(
  profile: string,
  storyOf: (plan: SessionPlan) => Story | undefined,
  calendar: Calendar,
): (plan: SessionPlan) => SessionItem {
  const common = createRandom(`${profile}/titles`);
  const titlesOf = createTitles(common, storyOf);
  const strayStatus = deck<RecordingStatus>(common, ["recording", "processing", "completed"]);

  return (plan) => {
    const random = createRandom(plan.id);
    const source = sourceOf(plan, random);
    const status = plan.sort === "stray" ? strayStatus() : statusOf(plan, source, random);
    const { start, minutes } = plan;
    const booked =
      start !== undefined && source === "calendar"
        ? someTime(random, calendar, Math.min(-1, plan.day - between(random, 2, 25)))
        : noted(plan, calendar, random);
    const ended = start === undefined ? booked : start + minutes * 60_000;
    const changed =
      plan.day > 0 ? booked : later(random, calendar, Math.max(booked, ended), pick(random, [2, 40, 900, 2_900]));
    return {
      $typeName: "records.ingest.v1.SessionItem",
      id: plan.id,
      externalId: plan.externalId,
      ...(plan.person === undefined ? {} : { contactId: plan.person.id }),
      ...titlesOf(plan, random),
      ...(start === undefined ? {} : { sessionDate: timestamp(new Date(start)) }),
      ...(start === undefined || chance(random, 0.05) ? {} : { sessionDateEnd: timestamp(new Date(ended)) }),
      ...(status === undefined ? {} : { recordingStatus: status }),
      source,
      ...conferenceOf(plan, source, random),
      ...(chance(random, 0.2)
        ? { providerDocUrl: `https://docs.example.com/document/d/${letters(random, 24)}/edit` }
        : {}),
      createdAt: timestamp(new Date(Math.min(booked, changed))),
      updatedAt: timestamp(new Date(changed)),
    };
  };
}

/** Returns a function that draws titles for plans, from a deck for each kind of session. */
function createTitles(
  common: Random,
  storyOf: (plan: SessionPlan) => Story | undefined,
): (plan: SessionPlan, random: Random) => Pick<SessionItem, "title" | "subtitle"> {
  const own = deck(common, texts.ownMeetings);
  const stray = deck(common, texts.strayTitles);
  const titles = Object.fromEntries(
    Object.entries(texts.sessionTitles).map(([sort, list]) => [sort, deck<string>(common, list)]),
  );
  const subtitle = deck(common, texts.sessionSubtitles);
  return (plan, random) => {
    if (plan.sort === "stray") return { title: stray() };
    if (plan.person === undefined) {
      return own();
    }
    const slots = storyOf(plan)?.slotsAt(plan.day) ?? {};
    const { bond } = plan.person;
    const title = titles[bond === "client" ? plan.sort : bond] ?? titles["usual"];
    if (title === undefined || chance(random, 0.025)) return {};
    const above = fill(title(), slots, random);
    const below = fill(subtitle(), slots, random);
    return chance(random, 0.4) || above.includes(below) ? { title: above } : { title: above, subtitle: below };
  };
}

function noted({ start, day }: SessionPlan, calendar: Calendar, random: Random): number {
  return start === undefined
    ? someTime(random, calendar, day)
    : later(random, calendar, start, between(random, 0, 600));
}

function sourceOf({ day, sort, length }: SessionPlan, random: Random): Source {
  if (sort === "stray") return "recorder";
  if (sort === "own" || day > 0) return chance(random, 0.8) ? "calendar" : "manual";
  if (length !== undefined) return "calendar";
  return pick(random, [
    "calendar",
    "calendar",
    "calendar",
    "calendar",
    "calendar",
    "calendar",
    "recorder",
    "recorder",
    "manual",
    "import",
  ]);
}

function statusOf(
  { day, sort, start, length }: SessionPlan,
  source: Source,
  random: Random,
): RecordingStatus | undefined {
  if (length !== undefined) return "completed";
  if (day > 0) return source === "manual" ? undefined : pick(random, ["scheduled", "scheduled", "scheduled", "none"]);
  if (sort === "own") return pick(random, ["none", undefined]);
  if (source === "manual" || start === undefined) return pick(random, ["none", undefined]);
  if (source === "import") return pick(random, ["completed", undefined, undefined]);
  if (day > -6 && chance(random, 0.4)) return "processing";
  if (chance(random, 0.035)) return "failed";
  return source === "recorder" || chance(random, 0.33) ? "completed" : "none";
}

function conferenceOf(
  { person }: SessionPlan,
  source: Source,
  random: Random,
): Pick<SessionItem, "conferenceProvider" | "conferenceUrl"> {
  if (source === "manual" || person === undefined || chance(random, source === "recorder" ? 0.7 : 0.25)) return {};
  const [conferenceProvider, url] = pick(random, [
    ["google_meet", () => `https://meet.example.com/${letters(random, 3)}-${letters(random, 4)}-${letters(random, 3)}`],
    ["google_meet", () => `https://meet.example.com/${letters(random, 3)}-${letters(random, 4)}-${letters(random, 3)}`],
    [
      "zoom",
      () => `https://zoom.example.com/j/${between(random, 81_000_000_000, 89_999_999_999)}?pwd=${letters(random, 12)}`,
    ],
    ["teams", () => `https://teams.example.com/l/meetup-join/19%3ameeting_${letters(random, 20)}`],
  ] as const);
  return chance(random, 0.08) ? { conferenceProvider } : { conferenceProvider, conferenceUrl: url() };
}

function letters(random: Random, count: number): string {
  return Array.from({ length: count }, () => String.fromCharCode(between(random, 97, 122))).join("");
}
