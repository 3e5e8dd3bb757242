// What the histories drill counts as a violation, and what it does not.
import { expect, test } from "vitest";
import type { Operation } from "./histories/operation.ts";
import type { Committed } from "./histories/oplog.ts";
import {
  gapBeyond,
  checkCredentials,
  checkFailures,
  checkRecovery,
  checkSwitches,
} from "./histories/promises-checker.ts";
import { checkCreates, checkLateEffects, checkNotes } from "./histories/records-checker.ts";
import { checkRegister, checkSearches } from "./histories/registers-checker.ts";
import { overlapMs } from "./histories/primaries.ts";
import type { Violation } from "./histories/violations.ts";
import { operation } from "./operation.ts";

const initial = { full_name: "n0", email: "e0", phone: "p0" };

test("an acknowledged value that was never committed is lost", () => {
  expect(kinds(checkRegister("c", initial, [set(0, 1, "p1")], phones("p0")))).toEqual(["lost", "not linearizable"]);
});

test("an acknowledged value that was replaced by an older one is lost", () => {
  expect(kinds(checkRegister("c", initial, [set(0, 1, "p1")], phones("p0", "p1", "p0")))).toContain("lost");
});

test("a read of a value that was never committed is dirty", () => {
  expect(kinds(checkRegister("c", initial, [get(0, 1, "p9")], phones("p0")))).toContain("dirty");
});

test("a read that begins after a newer value was acknowledged is stale; one that begins earlier is not", () => {
  const wrong = checkRegister("c", initial, [set(0, 5, "p1"), get(6, 7, "p0")], phones("p0", "p1"));
  expect(kinds(wrong)).toEqual(["stale", "not linearizable"]);
  expect(wrong[0]?.ms).toBe(1);
  expect(checkRegister("c", initial, [set(0, 5, "p1"), get(4, 7, "p0")], phones("p0", "p1"))).toEqual([]);
});

test("distinguishes a client that sees a newer value and then an older one from two clients", () => {
  const reads = [set(0, 20, "p1"), get(1, 2, "p1"), get(3, 4, "p0")];
  expect(kinds(checkRegister("c", initial, reads, phones("p0", "p1")))).toContain("non-monotonic");
  const two = reads.map((read, at) => ({ ...read, client: `c${at}` }));
  expect(kinds(checkRegister("c", initial, two, phones("p0", "p1")))).toEqual(["not linearizable"]);
});

test("a write with an unknown outcome explains its value, whether it was committed or not", () => {
  const unknown = { ...set(0, 5, "p1"), outcome: "unknown" as const, status: "503" };
  expect(checkRegister("c", initial, [unknown, get(6, 7, "p1")], phones("p0", "p1"))).toEqual([]);
  expect(checkRegister("c", initial, [unknown, get(6, 7, "p0")], phones("p0"))).toEqual([]);
});

test("a search by a contact's name must find it, unless another operation was changing it", () => {
  const renamed = operation({ kind: "set", wrote: { full_name: "n1" }, sent: 0, completed: 1 });
  const search = operation({ kind: "search", searched: "n1", missing: true, sent: 5, completed: 6 });
  expect(kinds(checkSearches([renamed, search]))).toEqual(["stale"]);
  expect(
    checkSearches([
      renamed,
      search,
      operation({ kind: "set", wrote: { full_name: "n2" }, sent: 4, completed: 9, outcome: "unknown" }),
    ]),
  ).toEqual([]);
  expect(checkSearches([{ ...renamed, completed: 5.5 }, search])).toEqual([]);
});

test("detects lost, dirty, stale and duplicate notes", () => {
  const append = operation({ kind: "append", contact: "c", value: "note", sent: 0, completed: 1 });
  const read = (notes: string[], sent = 5): Operation =>
    operation({ kind: "get", contact: "c", notes, sent, completed: sent + 1 });
  const there = committed({ notes: new Map([["note", [0.5]]]) });
  expect(checkNotes([append, read(["note"]), read([], 0.5)], there)).toEqual([]);
  expect(kinds(checkNotes([append], committed({})))).toEqual(["lost"]);
  expect(kinds(checkNotes([append, read([])], there))).toEqual(["stale"]);
  expect(kinds(checkNotes([append, read(["note", "other"])], there))).toEqual(["dirty"]);
  expect(kinds(checkNotes([append], committed({ notes: new Map([["note", [0.5, 0.7]]]) })))).toEqual(["duplicate"]);
});

test("detects creates that are lost, duplicated, or missing after they were acknowledged", () => {
  const create = operation({ kind: "create", value: "k", id: "1", sent: 0, completed: 1 });
  const made = (...ids: string[]): Committed => committed({ created: new Map([["k", ids]]) });
  expect(checkCreates([create], made("1"))).toEqual([]);
  expect(kinds(checkCreates([create], committed({})))).toEqual(["lost"]);
  expect(kinds(checkCreates([create], made("1", "2")))).toEqual(["duplicate"]);
  expect(
    kinds(
      checkCreates([create, operation({ kind: "get", contact: "1", missing: true, sent: 2, completed: 3 })], made("1")),
    ),
  ).toEqual(["stale"]);
});

test("a write is late if it is applied more than a second after its 503, unless its member was paused", () => {
  const write = { ...set(0, 5_000, "p1"), outcome: "unknown" as const, status: "503" };
  const at = (time: number): Committed => ({ ...phones(), values: () => [{ value: "p1", at: time }] });
  expect(kinds(checkLateEffects([write], at(6_100), []))).toEqual(["late effect"]);
  expect(checkLateEffects([write], at(5_900), [])).toEqual([]);
  expect(checkLateEffects([write], at(8_100), [{ from: 1_000, to: 8_000 }])).toEqual([]);
  expect(kinds(checkLateEffects([write], at(9_100), [{ from: 1_000, to: 8_000 }]))).toEqual(["late effect"]);
  // MongoDB's clock reports whole milliseconds.
  expect(checkLateEffects([write], at(8_100), [{ from: 1_000, to: 8_100.9 }])).toEqual([]);
  expect(kinds(checkLateEffects([write], at(8_099), [{ from: 1_000, to: 8_100.9 }]))).toEqual(["late effect"]);
  const append = operation({ kind: "append", value: "note", sent: 0, completed: 5, outcome: "unknown", status: "503" });
  const noted = committed({ notes: new Map([["note", [8_000]]]) });
  expect(kinds(checkLateEffects([append], noted, []))).toEqual(["late effect"]);
  expect(
    checkLateEffects([append, { ...append, sent: 7_900, completed: 8_100, outcome: "ok", status: "201" }], noted, []),
  ).toEqual([]);
  expect(checkLateEffects([{ ...write, status: "none" }], at(9_100), [])).toEqual([]);
});

test("a credential works from when it is issued until it is ended", () => {
  const end = operation({ kind: "end", credential: "old", id: "new", value: "rotation", sent: 0, completed: 5 });
  const use = (credential: string, sent: number, served: boolean): Operation =>
    operation({
      kind: "use",
      credential,
      sent,
      completed: sent + 1,
      outcome: served ? "ok" : "failed",
      status: served ? "200" : "401",
    });
  expect(
    checkCredentials([end, use("old", 4, true), use("old", 6, false), use("new", 6, true), use("new", 4, false)]),
  ).toEqual([]);
  expect(kinds(checkCredentials([end, use("old", 6, true)]))).toEqual(["served after rotation"]);
  expect(kinds(checkCredentials([end, use("new", 6, false)]))).toEqual(["stale"]);
  expect(checkCredentials([{ ...end, outcome: "unknown" }, use("old", 6, true)])).toEqual([]);
});

test("a switch takes effect within 1.5 seconds and stays in effect until it is turned on again", () => {
  const off = (name: string): Operation => operation({ kind: "switch", value: `${name} off`, sent: 0, completed: 100 });
  const on = (name: string): Operation =>
    operation({ kind: "switch", value: `${name} on`, sent: 9_000, completed: 9_100 });
  const read = (sent: number): Operation => operation({ kind: "get", records: "read", sent, completed: sent + 10 });
  expect(checkSwitches([off("publicInterface"), read(1_500), read(8_995), on("publicInterface"), read(9_500)])).toEqual(
    [],
  );
  expect(kinds(checkSwitches([off("publicInterface"), read(1_700), on("publicInterface")]))).toEqual([
    "switch not in force",
  ]);
  expect(checkSwitches([off("publicInterface"), { ...read(1_700), wire: "internal" }, on("publicInterface")])).toEqual(
    [],
  );
  expect(checkSwitches([off("writes"), read(1_700), on("writes")])).toEqual([]);
  expect(kinds(checkSwitches([off("writes"), { ...read(1_700), records: "write" }]))).toEqual(["switch not in force"]);
});

test("every request is served from 5 seconds after the last fault, provided that MongoDB serves its plain client", () => {
  const failed = (sent: number): Operation =>
    operation({ sent, completed: sent + 1_000, outcome: "unknown", status: "503" });
  const served = Array.from({ length: 100 }, (_, at) => at * 100);
  expect(checkRecovery([failed(4_900)], 0, served)).toEqual([]);
  expect(kinds(checkRecovery([failed(5_100)], 0, served))).toEqual(["unavailable"]);
  expect(
    checkRecovery(
      [failed(5_100)],
      0,
      served.filter((at) => at < 5_200 || at > 6_000),
    ),
  ).toEqual([]);
});

test("writes may resume later by the time that MongoDB did not serve its plain client, even across two consecutive faults", () => {
  const every = (from: number, to: number): number[] =>
    Array.from({ length: (to - from) / 100 + 1 }, (_, at) => from + at * 100);
  // Unavailable from 1,000 to 11,000 and from 11,500 to 21,500.
  const served = [...every(0, 1_000), ...every(11_000, 11_500), ...every(21_500, 25_000)];
  expect(gapBeyond([...every(0, 1_000), ...every(21_900, 25_000)], served, 11_500, 23_000)).toBe(900);
  expect(gapBeyond([...every(0, 1_000), 11_200, ...every(21_500, 25_000)], served, 11_500, 23_000)).toBe(300);
  expect(gapBeyond([...every(0, 1_000), ...every(22_900, 25_000)], every(0, 25_000), 900, 23_000)).toBe(21_900);
  expect(gapBeyond([500], every(0, 25_000), 600, 23_000)).toBe(24_500);
});

test("every 500 is a violation", () => {
  expect(
    kinds(
      checkFailures(
        [operation({ status: "500", outcome: "unknown" }), operation({ status: "internal", outcome: "unknown" })],
        ["a line"],
      ),
    ),
  ).toEqual(["500", "500", "500"]);
});

test("two primaries are two members that lead by different elections at the same time", () => {
  const claim = (member: string, election: string, from: number, to: number) => ({ member, election, from, to });
  expect(overlapMs([claim("m0", "1", 0, 100), claim("m1", "2", 60, 200)], 0)).toBe(40);
  expect(overlapMs([claim("m0", "1", 0, 100), claim("m1", "2", 110, 200)], 0)).toBe(0);
  expect(overlapMs([claim("m0", "1", 0, 100), claim("m0", "3", 60, 200)], 0)).toBe(0);
});

function kinds(violations: readonly Violation[]): string[] {
  return violations.map(({ kind }) => kind);
}

function set(sent: number, completed: number, phone: string): Operation {
  return operation({ kind: "set", wrote: { phone }, sent, completed });
}

function get(sent: number, completed: number, phone: string): Operation {
  return operation({ kind: "get", saw: { ...initial, phone }, sent, completed });
}

/** The history of a contact whose phone had these values. */
function phones(...values: string[]): Committed {
  return committed({
    values: (_contact, field) =>
      field === "phone"
        ? values.map((value, at) => ({ value, at }))
        : [{ value: field === "email" ? "e0" : "n0", at: 0 }],
  });
}

function committed(of: Partial<Committed>): Committed {
  return { values: () => [], notes: new Map(), created: new Map(), ...of };
}
