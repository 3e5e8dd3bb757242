// Reads the events of a file of calendars (iCalendar, RFC 5545): unfolds, decodes and parses their lines.
import ICAL from "ical.js";
import { decoderOf } from "./encoding.ts";
import type { Entry } from "./entry.ts";
import type { Line } from "./lines.ts";
import { byteLinesOf, withoutReturns } from "./lines.ts";
import { ZonedCalendar } from "./time-zones.ts";
import { isQuotedPrintable, readProperty } from "./vcard-property.ts";

/** One of the calendars of a file. */
interface Calendar {
  readonly component: ZonedCalendar;
  /** The time zone of times that name none. */
  zone: string | undefined;
  isCancellation: boolean;
}

/** A component, with the line where it begins. */
interface Block {
  readonly line: number;
  readonly name: string;
  readonly lines: string[];
  readonly calendar: Calendar;
}

/** An event, with the line where it begins and its text. */
export interface CalendarEvent {
  readonly line: number;
  readonly input: string;
  /** Part of its calendar, which knows the time zones. Undefined if it cannot be parsed. */
  readonly component: ICAL.Component | undefined;
}

/**
 * Reads the events of a file. `others` are those that it cancels, its tasks and lines that are not text. `timeZone` is
 * used where the file names none that is known.
 */
export async function readEvents(
  chunks: AsyncIterable<Uint8Array>,
  said: string | undefined,
  timeZone: string | undefined,
): Promise<{ readonly events: readonly CalendarEvent[]; readonly others: readonly Entry[] }> {
  const { encoding, lines: all } = await byteLinesOf(chunks, said);
  const decode = decoderOf(encoding);
  const [blocks, others]: [Block[], Entry[]] = [[], []];
  let calendar = newCalendar(timeZone);
  let current: Block | undefined;
  let isAlarm = false;
  let [hasCalendar, firstLine] = [false, ""];
  for await (const { number, text: bytes, problem } of unfolded(all)) {
    const line = quotedPrintable(bytes, encoding) ?? decode(Buffer.from(bytes, "latin1"));
    const why = problem ?? (line === undefined ? `the line is not ${encoding.toUpperCase()}` : undefined);
    if (why !== undefined) others.push({ line: number, input: "", content: { problem: why } });
    if (line === undefined || line === "") continue;
    if (firstLine === "") firstLine = line;
    if (current === undefined) {
      const isNew = isEdge(line, "BEGIN", "VCALENDAR");
      if (isNew) calendar = newCalendar(timeZone);
      const name = ["VEVENT", "VTODO", "VTIMEZONE"].find((one) => isEdge(line, "BEGIN", one));
      hasCalendar ||= isNew || name !== undefined;
      if (name === undefined) takeProperty(calendar, line);
      else current = { line: number, name, lines: [line], calendar };
    } else {
      // An alarm has properties of the same names.
      isAlarm ||= isEdge(line, "BEGIN", "VALARM");
      if (!isAlarm) current.lines.push(line);
      if (isEdge(line, "END", "VALARM")) isAlarm = false;
      if (!isEdge(line, "END", current.name)) continue;
      blocks.push(current);
      [current, isAlarm] = [undefined, false];
    }
  }
  if (current !== undefined) {
    const problem = `has no END:${current.name}`;
    others.push({ line: current.line, input: current.lines.join("\n"), content: { problem } });
  }
  if (!hasCalendar && firstLine !== "") {
    const problem = "is no calendar: a calendar begins with BEGIN:VCALENDAR";
    others.push({ line: 1, input: firstLine, content: { problem } });
  }
  for (const block of blocks) if (block.name === "VTIMEZONE") addTo(block);
  for (const one of new Set(blocks.map((block) => block.calendar))) one.zone ??= onlyZone(one.component) ?? timeZone;
  const events: CalendarEvent[] = [];
  for (const block of blocks) {
    const { line, name, calendar: of } = block;
    const input = block.lines.join("\n");
    if (name === "VTODO" || (name === "VEVENT" && of.isCancellation))
      others.push({ line, input, content: { skipped: "event" } });
    else if (name === "VEVENT") events.push({ line, input, component: addTo(block) });
  }
  return { events, others };
}

function newCalendar(timeZone: string | undefined): Calendar {
  return { component: new ZonedCalendar(timeZone), zone: undefined, isCancellation: false };
}

/** Returns the time zone of a calendar that defines one alone. Some programs do not name it in its events. */
function onlyZone(calendar: ICAL.Component): string | undefined {
  const [zone, ...others] = calendar.getAllSubcomponents("vtimezone");
  const tzid = zone?.getFirstPropertyValue("tzid");
  return typeof tzid === "string" && others.length === 0 ? tzid : undefined;
}

function isEdge(line: string, edge: "BEGIN" | "END", name: string): boolean {
  return line.length < 100 && line.trimEnd().toUpperCase() === `${edge}:${name}`;
}

function takeProperty(calendar: Calendar, line: string): void {
  calendar.zone ??= /^X-WR-TIMEZONE(?:;[^:]*)?:\s*(\S.*)$/i.exec(line.slice(0, 200))?.[1]?.trim();
  if (/^METHOD:\s*CANCEL\s*$/i.test(line.slice(0, 200))) calendar.isCancellation = true;
}

const propertyStart = /^[A-Za-z][A-Za-z\d-]{0,99}(?=[;:])/;

/** Returns whether a property of the standard begins in a line: old phones write a soft line break after every text. */
function isKnownStart(line: string): boolean {
  const [name = ""] = propertyStart.exec(line) ?? [];
  return name === name.toUpperCase() && knownNames.has(name.toLowerCase());
}

/** Returns whether a line is a text of vCalendar 1.0 in quoted-printable, which soft line breaks can divide. */
function isQuoted(bytes: string): boolean {
  const [name] = propertyStart.exec(bytes) ?? [];
  return name !== undefined && isQuotedPrintable(bytes.slice(name.length));
}

/** Returns the line of a text in quoted-printable; undefined for any other one. */
function quotedPrintable(bytes: string, encoding: string): string | undefined {
  if (!isQuoted(bytes)) return undefined;
  const [name = ""] = propertyStart.exec(bytes) ?? [];
  const property = readProperty({ name, group: "", text: bytes.slice(name.length) }, encoding);
  return property && `${name}:${property.value.replace(/\r?\n/g, "\\n")}`;
}

/** Yields lines without their folds, which can be within a character. */
async function* unfolded(all: AsyncIterable<readonly Line[]>): AsyncIterable<Line> {
  let first: Line | undefined;
  let pieces: string[] = [];
  for await (const lines of all) {
    for (const line of lines) {
      const text = withoutReturns(line.text).replace(/^\xef\xbb\xbf/, "");
      if (pieces.at(-1)?.endsWith("=") === true && isQuoted(pieces[0] ?? "") && !isKnownStart(text))
        pieces.push((pieces.pop() ?? "").slice(0, -1), text);
      else if (first !== undefined && /^[\t ]/.test(text)) pieces.push(text.slice(1));
      else {
        if (first !== undefined) yield { ...first, text: pieces.join("") };
        [first, pieces] = [line, [text]];
      }
    }
  }
  if (first !== undefined) yield { ...first, text: pieces.join("") };
}

/** Parses a component and adds it to its calendar. Returns undefined if it cannot be parsed. */
function addTo({ lines, calendar }: Block): ICAL.Component | undefined {
  const joined = withJoinedTexts(lines).filter((line) => !isEmpty.test(line));
  // A property that cannot be read does not cost the event.
  const component = parsed(joined) ?? parsed(joined.filter(isReadable));
  if (component === undefined) return undefined;
  for (const name of ["dtstart", "dtend", "recurrence-id", "exdate", "rdate"]) {
    for (const property of component.getAllProperties(name))
      if (calendar.zone !== undefined && property.getParameter("tzid") === undefined)
        property.setParameter("tzid", calendar.zone);
  }
  calendar.component.addSubcomponent(component);
  // An event without a known end is still at its time.
  for (const name of ["dtend", "duration"]) if (!hasValue(component, name)) component.removeAllProperties(name);
  return component;
}

function parsed(lines: readonly string[]): ICAL.Component | undefined {
  try {
    return new ICAL.Component(ICAL.parse(lines.map(strict).join("\r\n")) as unknown[]);
  } catch {
    return undefined;
  }
}

/** A property without a value, such as `EXDATE:`. */
const isEmpty = /^[A-Za-z][A-Za-z\d-]*(?:;[^:]*)?:\s*$/;

function hasValue(component: ICAL.Component, name: string): boolean {
  try {
    return component.getFirstPropertyValue(name) !== null;
  } catch {
    return false;
  }
}

/** A date, which can lack its type, have the wrong one, or be written as midnight. */
const looseDate =
  /^((?:DTSTART|DTEND|RECURRENCE-ID|EXDATE|RDATE)(?:;TZID=[^:;]*)?)(?:(?:;VALUE=DATE(?:-TIME)?)?:(\d{4})-?(\d\d)-?(\d\d)|;VALUE=DATE:(\d{8})T0{4,6})$/i;
/** A time that is said to be a date. */
const mistypedTime =
  /^((?:DTSTART|DTEND|RECURRENCE-ID|EXDATE|RDATE)(?:;TZID=[^:;]*)?);VALUE=DATE(?=(?:;TZID=[^:;]*)?:[\d-]{8,10}T\d)/i;

/** A time that has an offset, such as `20260824T154000-0500`, no seconds, or the separators of ISO 8601. */
const loose =
  /^((DTSTART|DTEND|RECURRENCE-ID)[^:]*):(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)?(Z|[+-]\d\d:?\d\d)?$/i;

function exactTime(line: string): string {
  const [, start, name, year, month, day, hour, minute, second = "00", zone = ""] = loose.exec(line) ?? [];
  if (start === undefined) return line;
  if (!/\d/.test(zone)) return `${start}:${year}${month}${day}T${hour}${minute}${second}${zone}`;
  const offset = zone.replace(/(\d\d):?(\d\d)$/, "$1:$2");
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  return `${name}:${time.toISOString().replace(/[-:]|\.\d+/g, "")}`;
}

/** A name such as `(UTC+01:00) Paris` that is not in quotes, although it has a colon, or has the time in its quotes. */
const looseZone = /;TZID="?([^";]{1,140}?)"?(?=:\d{8})([^"]*)"?$/i;

/** Returns a line as the library needs it: some programs do not say that a value is a date, or write `BYDAY=MO, tu`. */
function strict(line: string): string {
  if (line.length > 1_000) return line;
  return /^RRULE[:;]/i.test(line)
    ? line.toUpperCase().replaceAll(/\\(?=;)|\s/g, "")
    : exactTime(line.replace(looseDate, "$1;VALUE=DATE:$2$3$4$5").replace(mistypedTime, "$1")).replace(
        looseZone,
        ';TZID="$1"$2',
      );
}

const propertyName = /^([A-Za-z][A-Za-z\d-]*)[;:](?!\/\/)/;
const knownNames = new Set([...Object.keys(ICAL.design.icalendar.property), "begin", "end"]);

/** Joins the lines of a text that is not folded: `Place: here` begins no property. */
function withJoinedTexts(lines: readonly string[]): string[] {
  const texts: string[][] = [];
  for (const line of lines) {
    const name = propertyName.exec(line.slice(0, 200))?.[1];
    const isProperty =
      name !== undefined && (name === name.toUpperCase() || /^x-/i.test(name) || knownNames.has(name.toLowerCase()));
    if (isProperty) texts.push([line]);
    else texts.at(-1)?.push(line);
  }
  return texts.map((one) => one.join("\\n"));
}

/** What an event cannot lose: without one of these, it would be at another time. */
const essential = /^(?:BEGIN|END|UID|DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|RECURRENCE-ID|STATUS)[;:]/i;

function isReadable(line: string): boolean {
  if (essential.test(line)) return true;
  try {
    ICAL.Property.fromString(line);
    return true;
  } catch {
    return false;
  }
}
