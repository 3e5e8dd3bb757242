// `from` and `to` of GET /v1/sessions: which instants they take, and which sessions they let through.
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { ids, newClient, useService } from "../support/client.ts";

const service = useService();

/** An account with a session at each of these times. */
async function withSessions(
  ...dates: string[]
): Promise<{ client: Client; list: (query: string) => Promise<string[]> }> {
  const client = await newClient(service());
  const written = await client.put.sessions(...dates.map((session_date) => ({ session_date })));
  const dateOf = new Map(written.map((id, index) => [id, dates[index] ?? ""]));
  return {
    client,
    async list(query) {
      const response = await client.get(`/v1/sessions?limit=25&${query}`);
      expect(response.status, `${query} ${response.text}`).toBe(200);
      return ids(response).map((id) => dateOf.get(id) ?? "");
    },
  };
}

const dayBefore = "2026-01-30T23:59:59.999Z";
const first = "2026-01-31T00:00:00Z";
const noon = "2026-01-31T12:00:00.500Z";
const last = "2026-01-31T23:59:59.999Z";
const dayAfter = "2026-02-01T00:00:00Z";

test("a date means the whole UTC day: from its first millisecond, or to its last [SLS-15, SLS-16]", async () => {
  const { list } = await withSessions(dayBefore, first, noon, last, dayAfter);
  expect(await list("from=2026-01-31")).toEqual([dayAfter, last, noon, first]);
  expect(await list("to=2026-01-31")).toEqual([last, noon, first, dayBefore]);
  expect(await list("from=2026-01-31&to=2026-01-31")).toEqual([last, noon, first]);
  expect(await list("from=2026-02-02")).toEqual([]);
  expect(await list("to=2026-01-29")).toEqual([]);
});

test("a date-time is inclusive to the millisecond on either side [SLS-15]", async () => {
  const { list } = await withSessions(dayBefore, first, noon, last, dayAfter);
  expect(await list("from=2026-01-31T12:00:00.500Z&to=2026-01-31T12:00:00.500Z")).toEqual([noon]);
  expect(await list("from=2026-01-31T12:00:00.501Z&to=2026-01-31T23:59:59.998Z")).toEqual([]);
  expect(await list("from=2026-01-31T23:59:59.999Z")).toEqual([dayAfter, last]);
  expect(await list("to=2026-01-31T00:00:00Z")).toEqual([first, dayBefore]);
});

test("an instant between two milliseconds is after the first and before the second [SLS-15]", async () => {
  const { list } = await withSessions(noon);
  expect(await list("from=2026-01-31T12:00:00.5000001Z")).toEqual([]);
  expect(await list("from=2026-01-31T12:00:00.499999999Z")).toEqual([noon]);
  expect(await list("to=2026-01-31T12:00:00.500999999Z")).toEqual([noon]);
  expect(await list("from=2026-01-31T12:00:00.500000Z&to=2026-01-31T12:00:00.500000Z")).toEqual([noon]);
  expect(await list("from=2026-01-31T23:59:59.9999Z")).toEqual([]);
});

test("a date-time has an offset, and a blank in place of its + counts as + [SLS-14]", async () => {
  const { list } = await withSessions(noon);
  const same = [
    "2026-01-31T12:00:00.500Z",
    "2026-01-31t12:00:00.500z",
    "2026-01-31T13:00:00.500%2B01:00",
    "2026-01-31T13:00:00.500+01:00",
    "2026-01-31T13:00:00.500%2001:00",
    "2026-01-31T06:30:00.500-05:30",
    "2026-02-01T11:59:00.500%2B23:59",
    "2026-01-31T12:00:00.500-00:00",
  ];
  for (const instant of same) expect(await list(`from=${instant}&to=${instant}`), instant).toEqual([noon]);
  expect(await list("to=2026-01-31T12:00:00.499Z")).toEqual([]);
});

test("the last day of February exists in leap years only [SLS-17]", async () => {
  const client = await newClient(service());
  const status = async (date: string): Promise<number> => (await client.get(`/v1/sessions?from=${date}`)).status;
  for (const date of ["2024-02-29", "2000-02-29", "2023-02-28", "0000-02-29", "0001-01-01", "9999-12-31", "2026-04-30"])
    expect(await status(date), date).toBe(200);
  for (const date of [
    "2023-02-29",
    "1900-02-29",
    "2024-02-30",
    "2026-04-31",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "2026-01-32",
  ])
    expect(await status(date), date).toBe(422);
});

test("a time that is not in the calendar, or of another form, is 422 and names the parameter [SLS-14, SLS-17, ERR-02]", async () => {
  const client = await newClient(service());
  const wrong = [
    "2026-01-31T24:00:00Z",
    "2026-01-31T23:60:00Z",
    "2026-01-31T23:59:60Z",
    "2016-12-31T23:59:60Z",
    "2026-02-30T00:00:00Z",
    "2026-01-31T00:00:00%2B24:00",
    "2026-01-31T00:00:00%2B01:60",
    "2026-01-31T00:00:00",
    "2026-01-31T00:00Z",
    "2026-01-31T00Z",
    "2026-01-31%2000:00:00Z",
    "2026-01-31T00:00:00.Z",
    "2026-01-31T00:00:00,5Z",
    "2026-01-31T00:00:00%2B0100",
    "2026-01-31T00:00:00%2B01",
    "2026-01-31Z",
    "2026-1-31",
    "26-01-31",
    "20260131",
    "2026-W05-6",
    "2026-031",
    "2026-01",
    "2026",
    "+2026-01-31",
    "-2026-01-31",
    "12026-01-31",
    "01/31/2026",
    "today",
    "now",
    "1769860800",
    "0",
    "",
    "%00",
    "2026-01-31%0A",
    "%202026-01-31",
    "%D9%A2%D9%A0%D9%A2%D9%A6-01-31",
  ];
  for (const name of ["from", "to"]) {
    for (const instant of wrong) {
      const { status, body } = await client.get(`/v1/sessions?${name}=${instant}`);
      expect(status, `${name}=${instant}`).toBe(422);
      expect(body.error.message).toBe(
        `${name}: must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z`,
      );
    }
  }
});

test("the first and the last instant are bounds like others [SLS-14, SLS-15]", async () => {
  const beginning = "0001-01-01T00:00:00Z";
  const end = "9999-12-31T23:59:59.999Z";
  const { list } = await withSessions(beginning, noon, end);
  expect(await list("from=0001-01-01&to=9999-12-31")).toEqual([end, noon, beginning]);
  expect(await list("from=0001-01-02&to=9999-12-30")).toEqual([noon]);
  expect(await list("from=9999-12-31T23:59:59.999Z")).toEqual([end]);
  expect(await list("to=0001-01-01")).toEqual([beginning]);
  expect(await list("from=9999-12-31T23:59:59-23:59")).toEqual([]);
});
