// Events of a calendar become sessions: recurrence, time zones, exceptions and video conferences.
import { expect, test } from "vitest";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { readIcalendar } from "../../src/cli/formats/icalendar.ts";
import { linesOf } from "../../src/cli/formats/lines.ts";
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
async function sessions(text: string, now = "2026-06-01T00:00:00Z"): Promise<unknown[]> {
  const entries = await everyOf(readIcalendar(linesOf(chunksOf(text)), new Date(now)));
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
    {
      externalId: "s/2026-04-20T07:00:00.000Z",
      title: "Weekly",
      start: "2026-04-20T07:00:00.000Z",
      end: "2026-04-20T08:00:00.000Z",
    },
  ]);
});

test("a zone that the calendar does not define is one of the IANA database, or that of the calendar; any other is rejected [OPS-04]", async () => {
  const timed = (uid: string, start: string) => event(`UID:${uid}`, `DTSTART${start}`);
  const zones = [
    timed("a", ";TZID=America/New_York:20260702T090000"),
    timed("b", ";TZID=Nowhere:20260702T090000"),
    timed("c", ":20260115T090000"),
  ];
  expect(await sessions(calendar(...zones))).toEqual([
    { externalId: "a", start: "2026-07-02T13:00:00.000Z" },
    [7, "the event's time zone is not known: Nowhere"],
    [11, "the event's time zone is not known: none"],
  ]);
  const own = calendar("X-WR-TIMEZONE:Europe/Berlin", timed("c", ":20260115T090000"));
  expect(await sessions(own)).toEqual([{ externalId: "c", start: "2026-01-15T08:00:00.000Z" }]);
});

test("whole days and cancelled events are left out, and an event that cannot be read costs no other one [OPS-04]", async () => {
  const text = calendar(
    event("UID:day", "DTSTART;VALUE=DATE:20260302"),
    event("UID:off", "STATUS:CANCELLED", "DTSTART:20260302T090000Z"),
    event("DTSTART:20260302T090000Z"),
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
    { externalId: "good/2026-03-02T09:00:00.000Z", start: "2026-03-02T09:00:00.000Z", end: "2026-03-02T09:00:00.000Z" },
    { externalId: "good/2026-03-03T09:00:00.000Z", start: "2026-03-03T09:00:00.000Z", end: "2026-03-03T09:00:00.000Z" },
  ]);
  const lines = found.flatMap((one) => (Array.isArray(one) ? [one[0] as number] : []));
  expect(lines).toEqual([31, 12, 19, 15]);
});
