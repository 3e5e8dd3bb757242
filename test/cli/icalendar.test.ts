// Events of a calendar become sessions: recurrence, time zones, exceptions and video conferences.
import { expect, test } from "vitest";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { readIcalendar } from "../../src/cli/formats/icalendar.ts";
import { createRecognizer } from "../../src/cli/import/recognizer.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf } from "./entries.ts";

const berlin = `BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE`;

const event = (...lines: readonly string[]): string => ["BEGIN:VEVENT", ...lines, "END:VEVENT"].join("\n");
const calendar = (...parts: readonly string[]): string =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", ...parts, "END:VCALENDAR", ""].join("\n").replaceAll("\n", "\r\n");

/** The sessions and notes of a calendar: ids, times and what is not undefined. */
async function sessions(
  text: string | Uint8Array,
  now = "2026-06-01T00:00:00Z",
  timeZone?: string,
): Promise<unknown[]> {
  const entries = await everyOf(readIcalendar(chunksOf(text), { now: new Date(now), timeZone }));
  return entries.map(({ line, content }) => {
    if ("problem" in content) return [line, content.problem];
    if (!("record" in content)) return "skipped";
    const { record } = content.record;
    if (record.case === "sessionNote") return { note: record.value.externalId, content: record.value.content };
    if (record.case !== "session") return record.case;
    const { $typeName: _type, sessionDate, sessionDateEnd, source: _source, ...rest } = record.value;
    const [start, end] = [sessionDate, sessionDateEnd].map((time) => time && timestampDate(time).toISOString());
    return JSON.parse(JSON.stringify({ ...rest, start, end })) as unknown;
  });
}

test("an event has its title, place, times, description and video conference [OPS-04]", async () => {
  const text = event(
    "UID:one@example.com",
    "SUMMARY:Kickoff\\, first",
    "DTSTART:20260302T090000Z",
    "DURATION:PT45M",
    "LOCATION:Room 1",
    "DESCRIPTION:Join https://us02web.zoom.us/j/1?pwd=x\\nAgenda",
    "BEGIN:VALARM",
    "DESCRIPTION:Reminder",
    "END:VALARM",
  );
  expect(await sessions(calendar(text))).toEqual([
    {
      externalId: "one@example.com",
      title: "Kickoff, first",
      subtitle: "Room 1",
      start: "2026-03-02T09:00:00.000Z",
      end: "2026-03-02T09:45:00.000Z",
      conferenceUrl: "https://us02web.zoom.us/j/1?pwd=x",
      conferenceProvider: "zoom",
    },
    { note: "one@example.com/description", content: "Join https://us02web.zoom.us/j/1?pwd=x\nAgenda" },
  ]);
});

test("a description in HTML is imported as its text, with the addresses of its links [OPS-04]", async () => {
  const page =
    '<b>Plan</b> &amp; aims<br>See <a href="https://x.example/a"><b>notes</b></a><ul><li>One</li><li>Two&#x21;</li></ul>End';
  const text = "Plan & aims\nSee notes (https://x.example/a)\n- One\n- Two!\nEnd";
  const plain = "If a < b, see <https://x.example/a> or <i>, and write to <ann@example.com> &amp; wait";
  const events = [`DESCRIPTION:${page}`, `X-ALT-DESC;FMTTYPE=text/html:${page}`, `DESCRIPTION:${plain}`].map(
    (line, at) => event(`UID:${at}`, "DTSTART:20260302T090000Z", line),
  );
  const notes = (await sessions(calendar(...events))) as { readonly content?: string }[];
  expect(notes.flatMap(({ content }) => content ?? [])).toEqual([text, text, plain]);
});

test("the address of a video conference is that of its own property, before one in the place [OPS-04]", async () => {
  for (const name of ["X-GOOGLE-CONFERENCE", "X-PM-CONFERENCE-URL;X-PM-HOST=a@b.example"]) {
    const lines = [
      "UID:a",
      "DTSTART:20260302T090000Z",
      "LOCATION:https://other.example/",
      `${name}:https://zoom.us/j/9`,
    ];
    expect(await sessions(calendar(event(...lines))), name).toMatchObject([{ conferenceUrl: "https://zoom.us/j/9" }]);
  }
});

test("a recurring event keeps its local time over a change of the clocks, until 31 days from now, without its exceptions [OPS-04]", async () => {
  const zone = "TZID=W. Europe Standard Time";
  const series = event(
    "UID:s",
    "SUMMARY:Weekly",
    `DTSTART;${zone}:20260316T090000`,
    `DTEND;${zone}:20260316T100000`,
    "RRULE:FREQ=WEEKLY",
    `EXDATE;${zone}:20260323T090000`,
  );
  const moved = event(
    "UID:s",
    "SUMMARY:Moved",
    `RECURRENCE-ID;${zone}:20260406T090000`,
    `DTSTART;${zone}:20260407T110000`,
  );
  const cancelled = event(
    "UID:s",
    "STATUS:CANCELLED",
    `RECURRENCE-ID;${zone}:20260413T090000`,
    `DTSTART;${zone}:20260413T090000`,
  );
  const found = await sessions(calendar(berlin, series, moved, cancelled), "2026-03-21T00:00:00Z");
  expect(found).toEqual([
    {
      externalId: "s/2026-03-16T08:00:00.000Z",
      title: "Weekly",
      start: "2026-03-16T08:00:00.000Z",
      end: "2026-03-16T09:00:00.000Z",
    },
    {
      externalId: "s/2026-03-30T07:00:00.000Z",
      title: "Weekly",
      start: "2026-03-30T07:00:00.000Z",
      end: "2026-03-30T08:00:00.000Z",
    },
    { externalId: "s/2026-04-06T07:00:00.000Z", title: "Moved", start: "2026-04-07T09:00:00.000Z" },
    "skipped",
    {
      externalId: "s/2026-04-20T07:00:00.000Z",
      title: "Weekly",
      start: "2026-04-20T07:00:00.000Z",
      end: "2026-04-20T08:00:00.000Z",
    },
  ]);
});

test("a zone that the calendar does not define is one of the IANA database, the only one of the calendar, or else the one that the user sets [OPS-04]", async () => {
  const timed = (uid: string, start: string) => event(`UID:${uid}`, `DTSTART${start}`);
  const zones = [
    timed("a", ";TZID=America/New_York:20260702T090000"),
    timed("b", ";TZID=Nowhere:20260702T090000"),
    timed("c", ":20260115T090000"),
  ];
  expect(await sessions(calendar(...zones))).toEqual([
    { externalId: "a", start: "2026-07-02T13:00:00.000Z" },
    [7, "the event's time zone is not known: Nowhere. Set one, such as --time-zone Europe/Berlin"],
    [11, expect.stringContaining("name no time zone")],
  ]);
  expect(await sessions(calendar(...zones), undefined, "Asia/Tokyo")).toEqual([
    { externalId: "a", start: "2026-07-02T13:00:00.000Z" },
    { externalId: "b", start: "2026-07-02T00:00:00.000Z" },
    { externalId: "c", start: "2026-01-15T00:00:00.000Z" },
  ]);
  for (const own of ["X-WR-TIMEZONE:Europe/Berlin", "X-WR-TIMEZONE;VALUE=TEXT:Europe/Berlin", berlin])
    expect(await sessions(calendar(own, timed("c", ":20260115T090000")), undefined, "Asia/Tokyo")).toEqual([
      { externalId: "c", start: "2026-01-15T08:00:00.000Z" },
    ]);
});

test("whole days and cancelled events are skipped and counted, and an event that cannot be read costs no other one [OPS-04]", async () => {
  const text = calendar(
    event("UID:day", "DTSTART;VALUE=DATE:20260302"),
    event("UID:off", "STATUS:CANCELLED", "DTSTART:20260302T090000Z"),
    event("UID:gone", "STATUS:CANCELLED", "DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY;COUNT=3"),
    event("UID:timeless"),
    event("UID:bad", "DTSTART:yesterday"),
    event("UID:never", "DTSTART:20260302T090000Z", "RRULE:FREQ=NEVER"),
    event(
      "UID:good",
      "DTSTART:20260302T090000Z",
      "RDATE;VALUE=PERIOD:20260303T090000Z/PT1H",
      "RRULE:FREQ=DAILY;COUNT=1",
    ),
  );
  const found = await sessions(`${text}BEGIN:VEVENT\r\nUID:cut`);
  expect(found.filter((one) => !Array.isArray(one))).toEqual([
    ...["skipped", "skipped", "skipped"],
    { externalId: "good/2026-03-02T09:00:00.000Z", start: "2026-03-02T09:00:00.000Z", end: "2026-03-02T09:00:00.000Z" },
    { externalId: "good/2026-03-03T09:00:00.000Z", start: "2026-03-03T09:00:00.000Z", end: "2026-03-03T09:00:00.000Z" },
  ]);
  const lines = found.flatMap((one) => (Array.isArray(one) ? [one[0] as number] : []));
  expect(lines).toEqual([37, 18, 25, 21]);
});

test("a zone can have a prefix, the name that Windows gives it, or a definition without rules [OPS-04]", async () => {
  const starts = [
    "TZID=/Europe/Vienna",
    "TZID=/mozilla.org/20050126_1/America/Argentina/Buenos_Aires",
    "TZID=Eastern Standard Time",
    "TZID=Romance",
    "TZID=US-Eastern",
    "TZID=America/Denver",
    "TZID=Zone 7",
  ];
  const defined = ["America/Denver", "Zone 7"].map((name) =>
    ["BEGIN:VTIMEZONE", `TZID:${name}`, "X-LIC-LOCATION:America/Denver", "END:VTIMEZONE"].join("\n"),
  );
  const events = starts.map((zone, at) => event(`UID:${at}`, `DTSTART;${zone}:20260708T090000`));
  const found = (await sessions(calendar(...defined, ...events))) as { readonly start: string }[];
  expect(found.map(({ start }) => start.slice(11, 16))).toEqual([
    ...["07:00", "12:00", "13:00", "07:00"],
    ...["13:00", "15:00", "15:00"],
  ]);
});

test("a time zone is recognized by the name that Outlook shows, if its cities agree [OPS-04]", async () => {
  const names = [
    "(UTC-05:00) Eastern Time (US & Canada)",
    "(GMT+01.00) Paris/Madrid/Brussels/Copenhagen",
    "(UTC+01:00) Amsterdam, Berlin, Bern, Rom, Stockholm, Wien",
    "(UTC+02:00) Athens, Istanbul, Minsk",
    "(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi",
    "tzone://Microsoft/Utc",
    "(UTC-08:00) Pacific Time (US and Canada)",
    "Amsterdam, Belgrade, Bern, Madrid, Prague",
    "(UTC-06:00) Phoenix",
    "(UTC-05:00) Lima, New York",
    "(UTC+01:00)",
    "Lisbon, Madrid",
    "Our office, Berlin",
  ];
  const events = names.map((name, at) => event(`UID:${at}`, `DTSTART;TZID="${name}":20260708T120000`));
  const unquoted = [names[0], names[5], "GMT Standard Time 1", "UTC+01:00", "-0530"].map((name, at) =>
    event(`UID:${at}`, `DTSTART;TZID=${name}:20260708T120000`),
  );
  const quoted = event("UID:5", 'DTSTART;TZID="W. Europe Standard Time:20260708T120000"');
  expect(await sessions(calendar(...unquoted, quoted))).toEqual([
    { externalId: "0", start: "2026-07-08T16:00:00.000Z" },
    { externalId: "1", start: "2026-07-08T12:00:00.000Z" },
    { externalId: "2", start: "2026-07-08T11:00:00.000Z" },
    { externalId: "3", start: "2026-07-08T11:00:00.000Z" },
    { externalId: "4", start: "2026-07-08T17:30:00.000Z" },
    { externalId: "5", start: "2026-07-08T10:00:00.000Z" },
  ]);
  const found = (await sessions(calendar(...events))) as ({ readonly start: string } | [number, string])[];
  expect(found.map((one) => ("start" in one ? one.start.slice(11, 16) : one[1]))).toEqual([
    ...["16:00", "10:00", "10:00", "09:00", "06:30", "12:00", "19:00", "10:00"],
    ...names.slice(8).map((name) => expect.stringContaining(`the event's time zone is not known: ${name}. `)),
  ]);
});

test("an event without UID is identified by its content, and only a changed time of a series needs one [OPS-04]", async () => {
  const without = (...lines: readonly string[]): string => calendar(event("DTSTART:20260302T090000Z", ...lines));
  const idOf = async (text: string): Promise<unknown> =>
    ((await sessions(text)) as { externalId: string }[])[0]?.externalId;
  const first = await idOf(without("DTSTAMP:20260101T000000Z", "SUMMARY:Kickoff"));
  expect(first).toMatch(/^[\da-f]{64}$/);
  expect(await idOf(without("DTSTAMP:20260102T000000Z", "SUMMARY:Kickoff"))).toBe(first);
  expect(await idOf(without("SUMMARY:Review"))).not.toBe(first);
  expect(await sessions(without("RECURRENCE-ID:20260301T090000Z"))).toEqual([[3, "the event has no UID"]]);
});

test("an end that cannot be read, an empty property and blanks in a rule do not cost the event [OPS-04]", async () => {
  const start = "DTSTART:20260302T090000Z";
  expect(await sessions(calendar(event("UID:a", start, "DTEND:None", "EXDATE:", "RDATE;VALUE=DATE:")))).toEqual([
    { externalId: "a", start: "2026-03-02T09:00:00.000Z" },
  ]);
  const rule = "RRULE:FREQ=DAILY;COUNT=3;BYDAY=MO, TU, WE ;WKST=SU";
  expect(await sessions(calendar(event("UID:s", start, rule)))).toHaveLength(3);
});

test("each of the calendars of a file has its own time zones; cancellations and tasks are skipped and counted [OPS-04]", async () => {
  const timed = (uid: string, zone = "") => event(`UID:${uid}`, `DTSTART${zone}:20260708T090000`);
  const own = berlin.replace("W. Europe Standard Time", "Customized Time Zone");
  const shifted = own.replaceAll(
    /TZOFFSET(FROM|TO):\+0([12])00/g,
    (_, which, hours) => `TZOFFSET${which}:+0${Number(hours) + 3}00`,
  );
  const text = [
    calendar("X-WR-TIMEZONE:Europe/Berlin", own, timed("a"), timed("b", ";TZID=Customized Time Zone")),
    calendar(shifted, timed("c"), timed("d", ";TZID=Customized Time Zone"), "X-WR-TIMEZONE:America/New_York"),
    calendar("METHOD:CANCEL", timed("e", ";TZID=Europe/Berlin")),
    calendar("BEGIN:VTODO", "UID:f", "DTSTART:20260708T090000Z", "END:VTODO"),
  ].join("");
  expect(await sessions(text)).toEqual([
    ...["skipped", "skipped"],
    { externalId: "a", start: "2026-07-08T07:00:00.000Z" },
    { externalId: "b", start: "2026-07-08T07:00:00.000Z" },
    { externalId: "c", start: "2026-07-08T13:00:00.000Z" },
    { externalId: "d", start: "2026-07-08T04:00:00.000Z" },
  ]);
});

test("a file without a calendar is rejected, and is no empty import [OPS-04]", async () => {
  const problem = [1, "is no calendar: a calendar begins with BEGIN:VCALENDAR"];
  expect(await sessions("The calendar is not shared.\r\n")).toEqual([problem]);
  expect(await sessions('{"error":"not found"}')).toEqual([problem]);
  expect(await sessions("\r\n")).toEqual([]);
});

test("a series has its first time, its last day, and none of its excluded times, in whatever form they are [OPS-04]", async () => {
  const startsOf = async (...lines: readonly string[]): Promise<string[]> => {
    const found = (await sessions(calendar(event("UID:s", ...lines)))) as { readonly start: string }[];
    return found.map(({ start }) => start.slice(0, 16));
  };
  const evening = "DTSTART;TZID=America/New_York:20260302T200000";
  expect(await startsOf(evening, "RRULE:FREQ=DAILY;UNTIL=20260303")).toEqual(["2026-03-03T01:00", "2026-03-04T01:00"]);
  expect(await startsOf(evening, "RRULE:FREQ=DAILY;UNTIL=20260304T010000Z")).toHaveLength(2);
  expect(await startsOf(evening, "RRULE:Freq=Daily\\;Count=2")).toHaveLength(2);
  expect(await startsOf("DTSTART:20260302T090000Z", "RDATE:20260305T100000Z,20260302T090000Z")).toEqual([
    "2026-03-02T09:00",
    "2026-03-05T10:00",
  ]);
  const excluded = ["20260303T100000", "20260304T100000", "20260309T200000"];
  const exdates = excluded.map((time) => `EXDATE;TZID=America/New_York:${time}`);
  expect(await startsOf(evening, "RRULE:FREQ=WEEKLY;COUNT=3", ...exdates)).toEqual([
    "2026-03-03T01:00",
    "2026-03-17T00:00",
  ]);
  expect(await startsOf(evening, "RRULE:FREQ=DAILY;COUNT=2", "EXDATE;VALUE=DATE:20260303")).toHaveLength(1);
});

test("a changed time without its place in the series is imported, and an older version of an event is not [OPS-04]", async () => {
  const text = calendar(
    event("UID:s", "DTSTART:20260302T090000Z", "RRULE:FREQ=WEEKLY;COUNT=1"),
    event("UID:s", "SUMMARY:Moved", "SEQUENCE:3", "RECURRENCE-ID:20260401T090000Z", "DTSTART:20260402T090000Z"),
    event("UID:s", "SUMMARY:Older", "SEQUENCE:2", "RECURRENCE-ID:20260401T090000Z", "DTSTART:20260403T090000Z"),
    event("UID:v", "SUMMARY:New", "SEQUENCE:2", "DTSTART:20260302T100000Z"),
    event("UID:v", "SUMMARY:Old", "SEQUENCE:1", "DTSTART:20260302T090000Z"),
  );
  const found = (await sessions(text)) as { readonly externalId: string; readonly title?: string }[];
  expect(found.map(({ externalId, title }) => [externalId, title])).toEqual([
    ["s/2026-03-02T09:00:00.000Z", undefined],
    ["s/2026-04-01T09:00:00.000Z", "Moved"],
    ["v", "New"],
  ]);
});

test("a date is one without its type, with a wrong one or as midnight, and a time that is said to be a date is a time [OPS-04]", async () => {
  const dates = [":2026-03-02", ";VALUE=DATE-TIME:20260302", ";VALUE=DATE:20260302T000000", ";VALUE=DATE:2026-03-02"];
  const times = [";VALUE=DATE:20260302T090000Z", ";VALUE=DATE;TZID=Europe/Berlin:20260302T100000"];
  const events = [...dates, ...times].map((start, at) => event(`UID:${at}`, `DTSTART${start}`));
  expect(await sessions(calendar(...events))).toEqual([
    ...["skipped", "skipped", "skipped", "skipped"],
    { externalId: "4", start: "2026-03-02T09:00:00.000Z" },
    { externalId: "5", start: "2026-03-02T09:00:00.000Z" },
  ]);
});

test("an hour that comes twice is the first one, and one that the clocks skip is counted by the offset before [OPS-04]", async () => {
  const times = ["20261025T023000", "20261025T033000", "20260329T023000"];
  const events = times.map((time, at) => event(`UID:${at}`, `DTSTART;TZID=Europe/Berlin:${time}`));
  expect(await sessions(calendar(...events))).toEqual([
    { externalId: "0", start: "2026-10-25T00:30:00.000Z" },
    { externalId: "1", start: "2026-10-25T02:30:00.000Z" },
    { externalId: "2", start: "2026-03-29T01:30:00.000Z" },
  ]);
});

test("a recurrence that would be read wrongly is rejected by its name [OPS-04]", async () => {
  const start = "DTSTART:20260302T090000Z";
  const rules: readonly (readonly [string, ...string[]])[] = [
    ["BYWEEKNO", "RRULE:FREQ=YEARLY;BYWEEKNO=2,20;BYDAY=MO;COUNT=6"],
    ["several RRULE", "RRULE:FREQ=WEEKLY;COUNT=2", "RRULE:FREQ=MONTHLY;COUNT=2"],
    ["EXRULE", "RRULE:FREQ=DAILY;COUNT=4", "EXRULE:FREQ=DAILY;INTERVAL=2;COUNT=2"],
  ];
  const later = event("UID:s", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260303T090000Z", "DTSTART:20260303T100000Z");
  for (const [name, ...lines] of [...rules, ["RANGE=THISANDFUTURE", "RRULE:FREQ=DAILY;COUNT=2"]] as const) {
    const others = name.startsWith("RANGE") ? [later] : [];
    const problem = `the event repeats in a way that is not supported: ${name}`;
    expect(await sessions(calendar(event("UID:s", start, ...lines), ...others)), name).toEqual([[3, problem]]);
  }
  expect(await sessions(calendar(later))).toMatchObject([{ start: "2026-03-03T10:00:00.000Z" }]);
  const hours = event("UID:s", start, "RRULE:FREQ=DAILY;BYHOUR=14,9;COUNT=3");
  expect(await sessions(calendar(hours))).toMatchObject([
    { start: "2026-03-02T09:00:00.000Z" },
    { start: "2026-03-02T14:00:00.000Z" },
    { start: "2026-03-03T09:00:00.000Z" },
  ]);
});

test("different events with one UID are all imported [OPS-04]", async () => {
  const titled = (title: string, start: string): string => event("UID:x", `SUMMARY:${title}`, `DTSTART:${start}`);
  const times = ["20260302T090000Z", "20260303T090000Z"] as const;
  const text = calendar(titled("A", times[0]), titled("B", times[0]), titled("B", times[1]), titled("B", times[1]));
  expect(await sessions(text)).toEqual([
    { externalId: "x/2026-03-02T09:00:00Z/A", title: "A", start: "2026-03-02T09:00:00.000Z" },
    { externalId: "x/2026-03-02T09:00:00Z/B", title: "B", start: "2026-03-02T09:00:00.000Z" },
    { externalId: "x/2026-03-03T09:00:00Z/B", title: "B", start: "2026-03-03T09:00:00.000Z" },
  ]);
});

test("lines that are folded within a character, not folded, or no properties cost neither the event nor its text [OPS-04]", async () => {
  const text = calendar(
    event("UID:a", "DTSTART:20260302", "SUMMARY:Day"),
    event(
      "UID:b",
      "DTSTART:20260302T090000Z",
      "GEO:nowhere",
      "DESCRIPTION:One",
      "Join us: now",
      "https://x.example",
      "SUMMARY:Gr??e",
    ),
    event("UID:c", "DTSTART:20260302T090000Z", "RRULE:FREQ=SOMETIMES"),
  );
  const [begin, end] = text.split("??").map((part) => Buffer.from(part));
  const folded = [begin ?? "", Buffer.from("c3", "hex"), Buffer.from("\r\n "), Buffer.from("bcc39f", "hex"), end ?? ""];
  const bytes = Buffer.concat(folded.map((part) => Buffer.from(part)));
  const recognizer = createRecognizer("a.ics", "icalendar", undefined);
  recognizer.read(bytes);
  expect(recognizer.end()).toBe("utf-8");
  expect(await sessions(bytes)).toEqual([
    [18, "the event has a time or a recurrence that cannot be read"],
    "skipped",
    { externalId: "b", title: "Grüße", start: "2026-03-02T09:00:00.000Z" },
    { note: "b/description", content: "One\nJoin us: now\nhttps://x.example" },
  ]);
});

test("vCalendar 1.0 has texts in quoted-printable, with soft line breaks, and times with an offset [OPS-04]", async () => {
  const text = calendar(
    event(
      "UID:a",
      "DTSTART:20260824T154000-0500",
      "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Gespr=C3=A4ch, =",
      "b=C3=BCndig",
      "LOCATION;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Caf=E9=",
      "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:One=0D=0ATwo",
    ),
  );
  expect(await sessions(text)).toEqual([
    { externalId: "a", title: "Gespräch, bündig", subtitle: "Café=", start: "2026-08-24T20:40:00.000Z" },
    { note: "a/description", content: "One\nTwo" },
  ]);
});

test("a time is read without seconds and with the separators of ISO 8601 [OPS-04]", async () => {
  const times = ["20260302T0900Z", "2026-03-02T09:00:00Z", "2026-03-02T10:00+01:00", "2026-13-02T10:00+01:00"];
  const events = times.map((time, at) => event(`UID:${at}`, `DTSTART:${time}`));
  expect(await sessions(calendar(...events))).toEqual([
    [15, "the event has a time or a recurrence that cannot be read"],
    { externalId: "0", start: "2026-03-02T09:00:00.000Z" },
    { externalId: "1", start: "2026-03-02T09:00:00.000Z" },
    { externalId: "2", start: "2026-03-02T09:00:00.000Z" },
  ]);
});

test("a calendar of 10,000 events is read in linear time [OPS-04]", async () => {
  const events = Array.from({ length: 10_000 }, (_, at) => event(`UID:${at}`, "DTSTART:20260302T090000Z"));
  expect(await sessions(calendar(...events))).toHaveLength(10_000);
});
