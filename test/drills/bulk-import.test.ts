// A large import by the command line, in short: `npm run drill:import` is the long form.
import { expect, test } from "vitest";
import { digestsOf } from "./bulk/generate.ts";
import { drillBulk } from "./bulk/fixture.ts";

/** With fewer contacts, a search needs no command to count the matches of a word. */
const small = { contacts: 1_000, sessions: 100, notes: 1_000 };

test("an import that is killed, and whose service is killed, is complete after it was resumed, without duplicates; then every endpoint costs as much as on a small account [ING-06, SRC-08]", {
  timeout: 600_000,
}, async () => {
  // Enough notes for their search index to be taken away and built again.
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
  // What a contact and a session show are their own notes and sessions, of which these have different numbers.
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
