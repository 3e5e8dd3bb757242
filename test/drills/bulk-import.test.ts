// The short form of the import drill. `npm run drill:import` runs the long one.
import { expect, test } from "vitest";
import { digestsOf } from "./bulk/generate.ts";
import { drillBulk } from "./bulk/fixture.ts";

/** With fewer contacts, a search would skip the command that counts the matches of a word. */
const small = { contacts: 1_000, sessions: 100, notes: 1_000 };

test("an import resumed after a kill of the command and of the service is complete, without duplicates, and then every endpoint costs as much as on a small account [ING-06, SRC-08]", {
  timeout: 600_000,
}, async () => {
  // Enough notes for the import to drop and rebuild their search index.
  const {
    verdict,
    large,
    small: onSmall,
  } = await drillBulk({ contacts: 1_500, sessions: 500, notes: 8_000 }, small, () => undefined);
  expect(verdict.faults).toEqual([]);
  expect(verdict.summary).toContain('"position":10001');
  expect(Object.values(large).map(({ status }) => status)).toEqual([
    ...Array.from({ length: 11 }, () => 200),
    201,
    200,
    201,
  ]);
  // Excludes responses that contain notes and sessions: their numbers differ between the two accounts.
  const { "a contact": _contact, "a session": _session, "a contact changed": _changed, ...comparable } = large;
  for (const [name, { commands, examined }] of Object.entries(comparable))
    expect({ name, commands, examined }).toEqual({
      name,
      commands: onSmall[name]?.commands,
      examined: onSmall[name]?.examined,
    });
});

test("the digest reports a missing, a duplicate and a changed record [ING-06]", () => {
  const { notes } = digestsOf(small);
  expect(digestsOf({ ...small, notes: 999 }).notes).not.toEqual(notes);
  expect(digestsOf({ ...small, contacts: 999 }).notes).toMatchObject({
    count: 1_000,
    sum: expect.not.toSatisfy((sum: number) => sum === notes.sum),
  });
});
