// Reads the events of a calendar (iCalendar, RFC 5545) as sessions: one for each time of a recurring event.
import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import ICAL from "ical.js";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import { SessionNoteType } from "../../gen/records/v1/sessions_pb.ts";
import type { CalendarEvent } from "./calendar-components.ts";
import { readEvents } from "./calendar-components.ts";
import { maxExternalIdLength } from "./choices.ts";
import type { Entry } from "./entry.ts";
import { plainText } from "../../text/markup.ts";

/** Recurring events are imported until this time from now. */
const aheadMs = 31 * 24 * 3_600_000;
const maxOccurrences = 5_000;
const [maxTitle, maxUrl, maxNote] = [1_000, 2_000, 100_000];

const unreadable = "the event has a time or a recurrence that cannot be read";

/** An event that can be read. */
interface Parsed extends CalendarEvent {
  readonly component: ICAL.Component;
}

/** The events of a calendar with one UID. */
interface Series {
  /** The versions of an event, or different events: some programs write the UID of the first one again. */
  readonly masters: Parsed[];
  readonly exceptions: Parsed[];
}

/** How a calendar is read, beyond what it says itself. */
export interface CalendarOptions {
  readonly encoding?: string | undefined;
  /** A name of the IANA database. */
  readonly timeZone?: string | undefined;
  readonly now?: Date;
}

/**
 * Reads a session for each event, followed by a note with its description. Skips events that are cancelled or last
 * whole days, and tasks. `timeZone` is used where the file names none that is known, and `now` limits recurring events.
 */
export async function* readIcalendar(
  chunks: AsyncIterable<Uint8Array>,
  { encoding, timeZone, now = new Date() }: CalendarOptions = {},
): AsyncIterable<Entry> {
  const { events, others } = await readEvents(chunks, encoding, timeZone);
  yield* others;
  const series = new Map<string, Series>();
  for (const { line, input, component } of events) {
    const uid = component === undefined ? undefined : uidOf(component, input);
    if (component === undefined || uid === undefined || !component.hasProperty("dtstart")) {
      const problem =
        component === undefined ? unreadable : `the event has no ${uid === undefined ? "UID" : "DTSTART"}`;
      yield { line, input, content: { problem } };
      continue;
    }
    const known = series.get(uid) ?? { masters: [], exceptions: [] };
    series.set(uid, known);
    const event = { line, input, component };
    (component.hasProperty("recurrence-id") ? known.exceptions : known.masters).push(event);
  }
  for (const [uid, master, exceptions] of [...series].flatMap(([uid, one]) => divided(uid, one))) {
    const { line, input } = master ?? exceptions[0] ?? { line: 1, input: "" };
    const unsupported = unsupportedIn(master, exceptions);
    if (unsupported !== undefined) {
      yield { line, input, content: { problem: `the event repeats in a way that is not supported: ${unsupported}` } };
      continue;
    }
    try {
      yield* sessionsOf(uid, master, exceptions, now);
    } catch {
      // The library reads a value when it is needed.
      yield { line, input, content: { problem: unreadable } };
    }
  }
}

/** Returns what the library leaves out of a recurrence, or reads as something else. */
function unsupportedIn(master: Parsed | undefined, exceptions: readonly Parsed[]): string | undefined {
  const rangeOf = ({ component }: Parsed): unknown =>
    component.getFirstProperty("recurrence-id")?.getParameter("range");
  // A change without its series is at least at its own time.
  if (master !== undefined && exceptions.some((one) => rangeOf(one) !== undefined)) return "RANGE=THISANDFUTURE";
  const rules = master?.component.getAllProperties("rrule") ?? [];
  if (rules.length > 1) return "several RRULE";
  if (rules.some((rule) => JSON.stringify(rule.toJSON()).toUpperCase().includes("BYWEEKNO"))) return "BYWEEKNO";
  return master?.component.hasProperty("exrule") === true ? "EXRULE" : undefined;
}

type Divided = readonly [uid: string, master: Parsed | undefined, exceptions: readonly Parsed[]];

/** Returns the newest version of each event that has this UID. Events of one version at several times are different. */
function divided(uid: string, { masters, exceptions }: Series): readonly Divided[] {
  const newest = Math.max(...masters.map(sequenceOf));
  const last = masters.filter((one) => sequenceOf(one) === newest);
  const starts = last.map(({ component }) => String(component.getFirstProperty("dtstart")?.toJSON()[3]));
  if (new Set(starts).size < 2) return [[uid, last.at(-1), exceptions]];
  const events = new Map(
    last.map((one, at) => [`${uid}/${starts[at]}/${textOf(one.component, "summary") ?? ""}`, one] as const),
  );
  return [
    ...(exceptions.length > 0 ? [[uid, undefined, exceptions] as const] : []),
    ...[...events].map(([id, one]) => [id, one, []] as const),
  ];
}

/** Times at which a calendar is written. */
const writing = /^(?:DTSTAMP|CREATED|LAST-MODIFIED)[;:].*\n?/gim;

/** Returns what identifies an event: without UID, its content. A changed time of a series needs one. */
function uidOf(component: ICAL.Component, input: string): string | undefined {
  const digest = component.hasProperty("recurrence-id") ? undefined : hash("sha256", input.replace(writing, ""));
  return textOf(component, "uid") ?? digest;
}

/** Returns the number of the version of an event. */
function sequenceOf({ component }: Parsed): number {
  return Number(component.getFirstPropertyValue("sequence") ?? 0);
}

function* sessionsOf(
  uid: string,
  master: Parsed | undefined,
  exceptions: readonly Parsed[],
  now: Date,
): Iterable<Entry> {
  const isRecurring = master !== undefined && !isCancelled(master) && eventOf(master.component).isRecurring();
  if (master !== undefined && !isRecurring) yield* sessionOf(uid, master, undefined);
  // An invitation to one time of a series has no other times.
  const inOrder = exceptions.toSorted((one, other) => sequenceOf(one) - sequenceOf(other));
  const changed = new Map(inOrder.map((one) => [keyOf(timeIn(one.component, "recurrence-id")), one] as const));
  if (isRecurring) yield* occurrencesOf(uid, master, changed, now);
  for (const event of changed.values()) {
    const start = instant(timeIn(event.component, "dtstart"));
    if (isRecurring && start !== undefined && start.getTime() > now.getTime() + aheadMs) continue;
    yield* sessionOf(uid, event, instant(timeIn(event.component, "recurrence-id")));
  }
}

/** Yields the times of a series. Takes the exceptions that replace them. */
function* occurrencesOf(uid: string, master: Parsed, changed: Map<string, Parsed>, now: Date): Iterable<Entry> {
  const { component } = master;
  const first = timeIn(component, "dtstart");
  if (instant(first) === undefined) {
    yield* sessionOf(uid, master, undefined);
    return;
  }
  const length = eventOf(component).duration.toSeconds() * 1_000;
  const excluded = new Set(
    component.getAllProperties("exdate").flatMap((one) => (one.getValues() as ICAL.Time[]).map(keyOf)),
  );
  const seen = new Set<string>();
  const iterator = iteratorOf(component);
  for (let at = 0; at < maxOccurrences; at++) {
    // A time that the event adds can be a period.
    const next = iterator.next() as ICAL.Time | ICAL.Period | undefined | null;
    if (next === undefined || next === null) return;
    const time = next instanceof ICAL.Period ? next.start : next;
    const start = instant(time);
    if (start === undefined || start.getTime() > now.getTime() + aheadMs) return;
    const keys = [keyOf(time), dayOf(time)];
    if (seen.has(keyOf(time)) || keys.some((key) => excluded.has(key))) continue;
    seen.add(keyOf(time));
    const key = keys.find((one) => changed.has(one));
    const exception = changed.get(key ?? "");
    changed.delete(key ?? "");
    if (exception === undefined)
      yield* sessionOf(uid, master, start, { start, end: new Date(start.getTime() + length) });
    else yield* sessionOf(uid, exception, start);
  }
}

/** Returns the times of a series, with those that are excluded, which the library does not exclude in any order. */
function iteratorOf(component: ICAL.Component): ICAL.RecurExpansion {
  component.removeAllProperties("exdate");
  const first = timeIn(component, "dtstart");
  for (const property of component.getAllProperties("rrule")) {
    const rule = property.getFirstValue();
    if (!(rule instanceof ICAL.Recur)) continue;
    // The library takes the hours of a day in the order of the list, and a list can be in any.
    for (const name of ["BYHOUR", "BYMINUTE"] as const) rule.parts[name]?.sort((one, other) => one - other);
    if (rule.until === null || first === undefined) continue;
    const { year, month, day, isDate } = rule.until;
    // A series until a day has a time on that day.
    if (isDate) rule.until = new ICAL.Time({ year, month, day, hour: 23, minute: 59, second: 59 }, first.zone);
    else if (rule.until.zone === ICAL.Timezone.localTimezone) rule.until.zone = first.zone;
  }
  const start = component.getFirstProperty("dtstart");
  // Without a rule, the library has only the added times.
  if (start !== null && !component.hasProperty("rrule"))
    component.addProperty(new ICAL.Property(["rdate", ...start.toJSON().slice(1)]));
  return eventOf(component).iterator();
}

/** Returns an event without its exceptions, for which the library would search the whole calendar. */
function eventOf(component: ICAL.Component): ICAL.Event {
  return new ICAL.Event(component, { exceptions: [] });
}

/** Yields a session. `occurrence` is its place in a series. */
function* sessionOf(
  uid: string,
  event: Parsed,
  occurrence: Date | undefined,
  times?: { readonly start: Date; readonly end: Date },
): Iterable<Entry> {
  const { component, line, input } = event;
  const first = timeIn(component, "dtstart");
  if (first === undefined) return;
  if (first.isDate || isCancelled(event)) return yield { line, input, content: { skipped: "event" } };
  const start = times?.start ?? instant(first);
  if (start === undefined) {
    const zone = component.getFirstProperty("dtstart")?.getFirstParameter("tzid");
    const problem =
      zone === undefined
        ? "the event and its calendar name no time zone: set it, such as --time-zone Europe/Berlin"
        : `the event's time zone is not known: ${zone}. Set one, such as --time-zone Europe/Berlin`;
    yield { line, input, content: { problem } };
    return;
  }
  const end = times?.end ?? endOf(component, start);
  const id = occurrence === undefined ? uid : `${uid}/${occurrence.toISOString()}`;
  const externalId = id.length > maxExternalIdLength - 20 ? hash("sha256", id) : id;
  const place = textOf(component, "location");
  const url = urlOf(component, place);
  const title = textOf(component, "summary");
  const value = {
    externalId,
    source: "calendar",
    sessionDate: timestampFromDate(start),
    ...(title === undefined ? {} : { title: title.slice(0, maxTitle) }),
    ...(place === undefined || place === url ? {} : { subtitle: place.slice(0, maxTitle) }),
    ...(end === undefined || end < start ? {} : { sessionDateEnd: timestampFromDate(end) }),
    ...(url === undefined ? {} : { conferenceUrl: url, ...providerOf(url) }),
  };
  yield { line, input, content: { record: create(RecordSchema, { record: { case: "session", value } }) } };
  const content = plainText(textOf(component, "description") ?? textOf(component, "x-alt-desc") ?? "");
  if (content === "") return;
  const note = {
    externalId: `${externalId}/description`,
    sessionExternalId: externalId,
    title: "Description",
    content: content.slice(0, maxNote),
    type: SessionNoteType.USER_MANUAL,
  };
  yield { line, input, content: { record: create(RecordSchema, { record: { case: "sessionNote", value: note } }) } };
}

function isCancelled({ component }: Parsed): boolean {
  return textOf(component, "status")?.toUpperCase() === "CANCELLED";
}

function textOf(component: ICAL.Component, name: string): string | undefined {
  const value = component.getFirstPropertyValue(name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function timeIn(component: ICAL.Component, name: string): ICAL.Time | undefined {
  const value = component.getFirstPropertyValue(name);
  return value instanceof ICAL.Time ? value : undefined;
}

/** Returns the instant of a time; undefined if its time zone is not known. */
function instant(time: ICAL.Time | undefined): Date | undefined {
  return time === undefined || time.zone === ICAL.Timezone.localTimezone ? undefined : time.toJSDate();
}

/** Returns what identifies a time in its series: the instant or, for a date, the day. */
function keyOf(time: ICAL.Time | undefined): string {
  return instant(time)?.toISOString() ?? dayOf(time);
}

function dayOf(time: ICAL.Time | undefined): string {
  return time?.toString().slice(0, 10) ?? "";
}

function endOf(component: ICAL.Component, start: Date): Date | undefined {
  const duration = component.getFirstPropertyValue("duration");
  if (duration instanceof ICAL.Duration) return new Date(start.getTime() + duration.toSeconds() * 1_000);
  return instant(timeIn(component, "dtend"));
}

const providers: readonly (readonly [provider: string, host: RegExp])[] = [
  ["zoom", /(?:^|\.)zoom(?:gov)?\.(?:us|com)$/],
  ["google_meet", /^meet\.google\.com$/],
  ["teams", /^teams\.(?:microsoft|live)\.(?:com|us)$/],
  ["webex", /(?:^|\.)webex\.com$/],
];

function providerOf(url: string): { readonly conferenceProvider?: string } {
  const { hostname } = new URL(url);
  const found = providers.find(([, host]) => host.test(hostname))?.[0];
  return found === undefined ? {} : { conferenceProvider: found };
}

/** Returns the address of the video conference: of its own property, or in the location or the description. */
function urlOf(component: ICAL.Component, place: string | undefined): string | undefined {
  const own = ["x-google-conference", "conference", "x-microsoft-skypeteamsmeetingurl", "x-pm-conference-url"]
    .map((name) => textOf(component, name))
    .find((value) => value !== undefined && isAddress(value));
  if (own !== undefined) return own;
  const texts = `${place ?? ""} ${(textOf(component, "description") ?? "").slice(0, maxNote)}`;
  const addresses = (texts.match(/https:\/\/[^\s<>"]+/g) ?? []).filter(isAddress);
  return (
    addresses.find((url) => "conferenceProvider" in providerOf(url)) ?? (isAddress(place ?? "") ? place : undefined)
  );
}

function isAddress(text: string): boolean {
  return text.length <= maxUrl && /^https:\/\/\S+$/.test(text) && URL.canParse(text);
}
