// Reads the events of a calendar (iCalendar, RFC 5545) as sessions: one for each time of a recurring event.
import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import ICAL from "ical.js";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import { SessionNoteType } from "../../gen/records/v1/sessions_pb.ts";
import type { Entry } from "./entry.ts";
import { maxExternalIdLength } from "./choices.ts";
import type { Line } from "./lines.ts";

/** Recurring events are imported until this time from now. */
const aheadMs = 31 * 24 * 3_600_000;
const maxOccurrences = 5_000;
const [maxTitle, maxUrl, maxNote] = [1_000, 2_000, 100_000];

/** A component, with the line where it begins. */
interface Block {
  readonly line: number;
  readonly name: string;
  readonly lines: string[];
}

/** The events of a calendar with one UID. */
interface Series {
  master: Parsed | undefined;
  readonly exceptions: Parsed[];
}

interface Parsed {
  readonly line: number;
  readonly input: string;
  readonly component: ICAL.Component;
}

/**
 * Reads a session for each event, followed by a note with its description. Leaves out events that are cancelled or last
 * whole days. `now` limits recurring events.
 */
export async function* readIcalendar(
  chunks: AsyncIterable<readonly Line[]>,
  now: Date = new Date(),
): AsyncIterable<Entry> {
  const { blocks, zone, problems } = await blocksIn(chunks);
  yield* problems;
  const zones = blocks.filter(({ name }) => name === "VTIMEZONE").flatMap(parsed);
  const series = new Map<string, Series>();
  for (const block of blocks.filter(({ name }) => name === "VEVENT")) {
    const [component] = parsed(block);
    const input = block.lines.join("\n");
    const uid = component === undefined ? undefined : textOf(component, "uid");
    if (component === undefined || uid === undefined || !component.hasProperty("dtstart")) {
      yield { line: block.line, input, content: { problem: "the event cannot be read: it needs UID and DTSTART" } };
      continue;
    }
    // The zones are looked up in the calendar of an event.
    new ICAL.Component(["vcalendar", [], zones.map((one) => one.toJSON() as unknown[])]).addSubcomponent(component);
    const known = series.get(uid) ?? { master: undefined, exceptions: [] };
    series.set(uid, known);
    const event = { line: block.line, input, component };
    if (component.hasProperty("recurrence-id")) known.exceptions.push(event);
    else known.master = event;
  }
  for (const [uid, { master, exceptions }] of series) {
    try {
      yield* sessionsOf(uid, master, exceptions, zone, now);
    } catch {
      // The library reads a value when it is needed.
      const { line, input } = master ?? exceptions[0] ?? { line: 1, input: "" };
      yield { line, input, content: { problem: "the event has a time or a recurrence that cannot be read" } };
    }
  }
}

function* sessionsOf(
  uid: string,
  master: Parsed | undefined,
  exceptions: readonly Parsed[],
  zone: string | undefined,
  now: Date,
): Iterable<Entry> {
  const isRecurring = master !== undefined && new ICAL.Event(master.component).isRecurring();
  const single = isRecurring || master === undefined ? [] : [master];
  for (const event of single) yield* sessionOf(uid, event, undefined, zone);
  // An invitation to one time of a series has no other times.
  for (const event of isRecurring ? [] : exceptions)
    yield* sessionOf(uid, event, instantOf(event.component, "recurrence-id", zone), zone);
  if (!isRecurring) return;
  const changed = new Map(
    exceptions.map((one) => [instantOf(one.component, "recurrence-id", zone)?.getTime(), one] as const),
  );
  yield* occurrencesOf(uid, master, changed, zone, now);
}

function* occurrencesOf(
  uid: string,
  master: Parsed,
  changed: ReadonlyMap<number | undefined, Parsed>,
  zone: string | undefined,
  now: Date,
): Iterable<Entry> {
  const event = new ICAL.Event(master.component);
  const length = event.duration.toSeconds() * 1_000;
  const iterator = event.iterator();
  for (let at = 0; at < maxOccurrences; at++) {
    // A time that the event adds can be a period.
    const next = iterator.next() as ICAL.Time | ICAL.Period | undefined | null;
    if (next === undefined || next === null) return;
    const time = next instanceof ICAL.Period ? next.start : next;
    const start = instant(time, zoneOf(master.component, "dtstart") ?? zone);
    if (start === undefined) {
      yield* sessionOf(uid, master, undefined, zone);
      return;
    }
    if (start.getTime() > now.getTime() + aheadMs) return;
    const exception = changed.get(start.getTime());
    if (exception === undefined)
      yield* sessionOf(uid, master, start, zone, { start, end: new Date(start.getTime() + length) });
    else yield* sessionOf(uid, exception, start, zone);
  }
}

/** Yields a session. `occurrence` is its place in a series. */
function* sessionOf(
  uid: string,
  { component, line, input }: Parsed,
  occurrence: Date | undefined,
  zone: string | undefined,
  times?: { readonly start: Date; readonly end: Date },
): Iterable<Entry> {
  const first = component.getFirstPropertyValue("dtstart");
  if (!(first instanceof ICAL.Time) || first.isDate) return;
  if (textOf(component, "status")?.toUpperCase() === "CANCELLED") return;
  const start = times?.start ?? instantOf(component, "dtstart", zone);
  if (start === undefined) {
    yield {
      line,
      input,
      content: { problem: `the event's time zone is not known: ${zoneOf(component, "dtstart") ?? "none"}` },
    };
    return;
  }
  const end = times?.end ?? endOf(component, start, zone);
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
  const description = textOf(component, "description");
  if (description === undefined) return;
  const note = {
    externalId: `${externalId}/description`,
    sessionExternalId: externalId,
    title: "Description",
    content: description.slice(0, maxNote),
    type: SessionNoteType.USER_MANUAL,
  };
  yield { line, input, content: { record: create(RecordSchema, { record: { case: "sessionNote", value: note } }) } };
}

/** Reads the components of a file. Lines that are not text are problems. */
async function blocksIn(chunks: AsyncIterable<readonly Line[]>): Promise<{
  readonly blocks: readonly Block[];
  readonly zone: string | undefined;
  readonly problems: readonly Entry[];
}> {
  const [blocks, problems]: [Block[], Entry[]] = [[], []];
  let current: Block | undefined;
  let inner: string | undefined;
  let zone: string | undefined;
  for await (const lines of chunks) {
    for (const { number, text, problem } of lines) {
      if (problem !== undefined) problems.push({ line: number, input: "", content: { problem } });
      const line = text.replace(/\r$/, "");
      const begins = /^BEGIN:(VEVENT|VTIMEZONE)\s*$/i.exec(line)?.[1]?.toUpperCase();
      zone ??= /^X-WR-TIMEZONE:\s*(\S.*)$/i.exec(line.slice(0, 200))?.[1]?.trim();
      if (current === undefined && begins !== undefined) current = { line: number, name: begins, lines: [line] };
      else if (current !== undefined) {
        // An alarm has properties of the same names.
        inner ??= /^BEGIN:(VALARM)\s*$/i.exec(line)?.[1];
        if (inner === undefined && line !== "") current.lines.push(line);
        if (/^END:VALARM\s*$/i.test(line)) inner = undefined;
        if (line.trimEnd().toUpperCase() === `END:${current.name}`) {
          blocks.push(current);
          [current, inner] = [undefined, undefined];
        }
      }
    }
  }
  if (current !== undefined)
    problems.push({
      line: current.line,
      input: current.lines.join("\n"),
      content: { problem: `has no END:${current.name}` },
    });
  return { blocks, zone, problems };
}

function parsed({ lines }: Block): ICAL.Component[] {
  try {
    return [new ICAL.Component(ICAL.parse(lines.join("\r\n")) as unknown[])];
  } catch {
    return [];
  }
}

function textOf(component: ICAL.Component, name: string): string | undefined {
  const value = component.getFirstPropertyValue(name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function zoneOf(component: ICAL.Component, name: string): string | undefined {
  const zone = component.getFirstProperty(name)?.getParameter("tzid");
  return typeof zone === "string" ? zone : undefined;
}

function instantOf(component: ICAL.Component, name: string, zone: string | undefined): Date | undefined {
  const value = component.getFirstPropertyValue(name);
  return value instanceof ICAL.Time ? instant(value, zoneOf(component, name) ?? zone) : undefined;
}

/** Returns an instant. `zone` is the time zone of a time whose zone the calendar does not define. */
function instant(time: ICAL.Time, zone: string | undefined): Date | undefined {
  if (time.zone !== ICAL.Timezone.localTimezone) return time.toJSDate();
  const local = Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second);
  if (zone === undefined) return undefined;
  // The offset before a change of the clocks can differ from the one after it.
  const guess = offsetAt(local, zone);
  return guess === undefined ? undefined : new Date(local - (offsetAt(local - guess, zone) ?? guess));
}

/** Returns the offset of a time zone of the IANA database, in milliseconds; undefined if there is no such zone. */
function offsetAt(at: number, timeZone: string): number | undefined {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "0", minutes = "0"] = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  } catch {
    return undefined;
  }
}

function endOf(component: ICAL.Component, start: Date, zone: string | undefined): Date | undefined {
  const duration = component.getFirstPropertyValue("duration");
  if (duration instanceof ICAL.Duration) return new Date(start.getTime() + duration.toSeconds() * 1_000);
  return instantOf(component, "dtend", zone);
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
  const own = ["x-google-conference", "conference", "x-microsoft-skypeteamsmeetingurl"]
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
