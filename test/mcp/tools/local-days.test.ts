// Days in the time zone of the signed-in user, where the access token says it.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { inLocalDays } from "../../../src/mcp/local-days.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { accessToken, offerIntrospection } from "../../fixtures/sign-in/assistants.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";
import { call } from "./set-up.ts";

describe("a date is a day in the time zone", () => {
  test.each([
    ["Europe/Berlin", "2026-01-15", "2026-01-14T23:00:00.000Z", "2026-01-15T22:59:59.999Z"],
    // The days on which clocks change have 23 and 25 hours.
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z"],
    ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z"],
    ["America/Los_Angeles", "2026-07-04", "2026-07-04T07:00:00.000Z", "2026-07-05T06:59:59.999Z"],
    ["Asia/Kathmandu", "2026-07-04", "2026-07-03T18:15:00.000Z", "2026-07-04T18:14:59.999Z"],
    ["Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00.000Z", "2026-01-01T09:59:59.999Z"],
    // There is no midnight: clocks go forward to 1:00.
    ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z", "2026-04-24T20:59:59.999Z"],
    ["Pacific/Kiritimati", "1000-01-02", "1000-01-02T10:29:20.000Z", "1000-01-03T10:29:19.999Z"],
    ["America/Los_Angeles", "9999-12-30", "9999-12-30T08:00:00.000Z", "9999-12-31T07:59:59.999Z"],
    ["UTC", "2026-07-04", "2026-07-04T00:00:00.000Z", "2026-07-04T23:59:59.999Z"],
  ])("%s %s [MCP-17]", (timeZone, date, begins, ends) => {
    expect(inLocalDays({ from: date, to: date, last_session_before: date, query: date }, timeZone)).toEqual({
      from: begins,
      to: ends,
      last_session_before: begins,
      query: date,
    });
  });

  test.each([
    ["2026-07-04T09:30:00", "2026-07-04T07:30:00.000Z"],
    ["2026-01-15 09:30", "2026-01-15T08:30:00.000Z"],
    ["2026-01-15T23:59:59.25", "2026-01-15T22:59:59.250Z"],
    // Clocks show 2:30 not at all on this day, and twice on the other one.
    ["2026-03-29T02:30:00", "2026-03-29T01:30:00.000Z"],
    ["2026-10-25T02:30:00", "2026-10-25T01:30:00.000Z"],
    ["2026-07-04T09:30:00z", "2026-07-04T09:30:00Z"],
    ["2026-07-04T09:30:00-0330", "2026-07-04T09:30:00-03:30"],
    ["9999-12-31T09:30", "9999-12-31T09:30:00Z"],
  ])("%s without an offset is a time there [MCP-15] [MCP-17]", (text, instant) =>
    expect(inLocalDays({ from: text }, "Europe/Berlin")).toEqual({ from: instant }),
  );

  test.each([
    ["2026-02", "2026-01-31T23:00:00.000Z", "2026-02-28T22:59:59.999Z"],
    ["2026", "2025-12-31T23:00:00.000Z", "2026-12-31T22:59:59.999Z"],
    ["2026.7.4", "2026-07-03T22:00:00.000Z", "2026-07-04T21:59:59.999Z"],
  ])("%s is from %s to %s there [MCP-15] [MCP-17]", (text, begins, ends) =>
    expect(inLocalDays({ from: text, to: text }, "Europe/Berlin")).toEqual({ from: begins, to: ends }),
  );

  test("unless it has a time, is no date, is at the end of time, or the time zone is unknown [MCP-17]", () => {
    for (const date of ["0001-01-01", "0999-12-31", "9999-12-31"])
      expect(inLocalDays({ from: date, to: date }, "America/Los_Angeles")).toEqual({ from: date, to: date });
    const given = { from: "2026-07-04T00:00:00+02:00", to: "2026-02-30", last_session_before: 7 };
    expect(inLocalDays(given, "Europe/Berlin")).toEqual(given);
    expect(inLocalDays({ from: "2026-07-04" }, undefined)).toEqual({ from: "2026-07-04" });
  });
});

describe("a user whose token has a time zone", () => {
  const at = useFakeProvider({ prepare: (fake) => offerIntrospection(fake, () => ({ active: true })) });

  test("finds what happened on a day there [MCP-17]", async () => {
    const subject = randomUUID();
    const { accounts } = at.service().app.services;
    const { _id } = await accounts.create(`${subject}@example.com`, true);
    await accounts.link(_id, { issuer: at.fake().issuer, subject });
    const put = ingestInto(at.service(), _id.toHexString());
    await put.session({ title: "Late", session_date: "2026-07-05T05:30:00Z" });
    const titles = async (zoneinfo?: string): Promise<string[]> => {
      const exp = Math.floor(Date.now() / 1_000) + 3_600;
      const token = await accessToken(at.fake(), { sub: subject, exp, ...(zoneinfo && { zoneinfo }) });
      const holder = { url: `${at.base()}/mcp`, token };
      const { structured } = await call(holder, "list_sessions", { from: "2026-07-04", to: "2026-07-04" });
      return structured.data.map(({ title }: { title: string }) => title);
    };
    expect(await titles("America/Los_Angeles")).toEqual(["Late"]);
    expect(await titles()).toEqual([]);
  });
});
