// How contacts are found by their phone (contract §3.2).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { phoneForms, phoneWords, wholePhones } from "../../src/search/phones.ts";
import { contactReadings } from "../../src/search/readings.ts";
import type { Terms } from "../../src/search/terms.ts";
import { CONTACT_SHAPE, contactTerms as termsOf, terms } from "../../src/search/terms.ts";
import { nameKeys, nameWords, recordWords } from "../../src/search/words.ts";
import { matchesTerms, matchesStoredText } from "./finding.ts";
import { contactAndQuery, matchesContact } from "./reference.ts";
import { inForm } from "../support/form.ts";

const queryReadings = (query: string): (readonly string[])[] => contactReadings(query, false).map(({ words }) => words);

function contactTerms(name: string, phone: string | null): Terms {
  return termsOf({
    names: nameWords(name),
    nameKeys: nameKeys(name),
    others: phoneWords(phone),
    email: undefined,
    phones: phoneForms(phone),
  });
}

/** Whether some reading of the query matches, whichever word drives. */
function findsPhone(
  phone: string,
  query: string,
  matching = (stored: Terms, words: readonly string[], driver: number) =>
    matchesTerms(stored, words, driver, CONTACT_SHAPE),
): boolean {
  return finds(contactTerms("", phone), query, matching);
}

function finds(
  stored: Terms,
  query: string,
  matching = (given: Terms, words: readonly string[], driver: number) =>
    matchesTerms(given, words, driver, CONTACT_SHAPE),
): boolean {
  return queryReadings(query).some((words) => {
    const found = new Set(words.map((_, driver) => matching(stored, words, driver)));
    expect(found.size).toBe(1);
    return found.has(true);
  });
}

describe("phones", () => {
  test.each([
    ["+49 (170) 123", ["49", "170", "123", "49170123"]],
    ["+49170123", ["49170123"]],
    ["12 12", ["12", "1212"]],
    ["555-1234 ext. 9", ["555", "1234", "ext", "9", "55512349", "5551234"]],
    ["٠١٧٠ ١٢", ["0170", "12", "017012"]],
    [`+${"1".repeat(20)} ${"2".repeat(20)}`, ["1".repeat(20), "2".repeat(20), "1".repeat(20) + "2".repeat(20)]],
    ["call me", ["call", "me"]],
    ["+", []],
    ["", []],
    [null, []],
    [undefined, []],
  ])("the words of the phone %j are %j [CSR-08]", (phone, words) => {
    expect(phoneWords(phone)).toEqual(words);
  });

  test.each([
    ["+49 (170) 12", [["49", "170", "12"], ["#4917012"], ["!017012"], ["#49170", "12"], ["!0170", "12"]]],
    ["4917012", [["4917012"]]],
    ["4917012345", [["4917012345"], ["!017012345"]]],
    ["12 12", [["12"], ["#1212"]]],
    [
      "unit +49 17",
      [
        ["unit", "49", "17"],
        ["unit", "#4917"],
      ],
    ],
    [
      "unit 42 ＋49 17",
      [
        ["unit", "42", "49", "17"],
        ["unit", "42", "#4917"],
      ],
    ],
    [
      "1 2 3 4",
      [
        ["1", "2", "3", "4"],
        ["#1234"],
        ["1", "#234"],
        ["#123", "4"],
        ["1", "2", "#34"],
        ["#12", "3", "4"],
        ["1", "#23", "4"],
      ],
    ],
    [
      "anna 0170 12 schmidt 3 4",
      [
        ["anna", "0170", "12", "schmidt", "3", "4"],
        ["anna", "#017012", "schmidt", "#34"],
        ["anna", "#017012", "schmidt", "3", "4"],
        ["anna", "0170", "12", "schmidt", "#34"],
      ],
    ],
    ["anna schm", [["anna", "schm"]]],
    ["a1 2", [["a1", "2"]]],
    [
      "电话12 34",
      [
        ["电话", "12", "34"],
        ["电话", "#1234"],
      ],
    ],
    [`${"1".repeat(30)} 2345`, [["1".repeat(30), "2345"], [`#${"1".repeat(30)}2345`]]],
  ])("the query %s has the readings %j [CSR-08]", (query, readings) => {
    expect(queryReadings(query)).toEqual(readings);
  });

  test("every query has at most 16 readings, and 15 words more than it was typed with [CSR-08, SRC-10]", () => {
    const query = fc.string({
      unit: fc.constantFrom("1", "2", "34", " ", " ", "+", "a"),
      minLength: 2,
      maxLength: 100,
    });
    fc.assert(
      fc.property(query, (text) => {
        const readings = queryReadings(text);
        expect(readings.length).toBeLessThanOrEqual(16);
        const typed = new Set(readings[0]);
        expect(new Set(readings.flat()).size).toBeLessThanOrEqual(typed.size + 15);
      }),
      { numRuns: inForm(250, 1_000) },
    );
    expect(queryReadings("1 ".repeat(50))).toHaveLength(16);
  });

  test("a query without a letter or digit has no reading, and so no match [SRC-06]", () => {
    expect([queryReadings("--"), queryReadings("+ +"), queryReadings("")]).toEqual([[], [], []]);
  });

  test.each([
    ["+44 (0)7700 900299", "+447700900299"],
    ["+44 (0)7700 900299", "44 7700 900299"],
    ["+44 07700 900299", "+44 7700"],
    ["0049 89 55509 817", "+498955509817"],
    ["+33 6 39 55 00 11", "0033639550011"],
    ["+33 6 39 98 75 11", "06 39 98 75 11"],
    ["+49 30 5550188", "0305550188"],
    ["+14155552673", "(415) 555-2673"],
    ["(415) 555-2688", "+1 415 555 2688"],
    ["(415) 555-2688", "0014155552688"],
    ["030 5550188", "+49 30 555"],
    ["+39 06 1234567", "06 1234567"],
    ["+7 912 345-67-89", "8 (912) 345-67-89"],
    ["+36 30 123 4567", "06 30 123 4567"],
    ["+91 98765 43210", "98765 43210"],
    ["+91 98765 43210", "098765 43210"],
    ["+1 415 555 2673 ext. 12", "(415) 555-2673"],
  ])("the phone %s and %s are the same number, or its beginning [CSR-08]", (phone, query) => {
    expect(findsPhone(phone, query)).toBe(true);
  });

  test.each([
    ["+33 6 44 55 01 20", "6445"],
    ["+33 6 44 55 01 20", "064"],
    ["+41 55 555 26 88", "(415) 555-2688"],
    ["+49 30 5550188", "+33 30 5550188"],
    ["06 39 98 75 11", "+49 6 39 98 76"],
    ["+1 628 555 2673", "4155552673"],
  ])("the phone %s is another number than %s [CSR-08]", (phone, query) => {
    expect(findsPhone(phone, query)).toBe(false);
  });

  test.each([
    ["+49 89 5550", ["#49895550", "!0895550"]],
    ["4989 5550", ["#49895550"]],
    ["1 415 555 2673", ["#14155552673", "!4155552673"]],
    ["00 49 (0)89 5550", ["#49895550", "!0895550"]],
    ["+1 415 555 2673 x12", ["#1415555267312", "!415555267312"]],
    ["ann 4989", []],
    ["ann", []],
  ])("the query %s is the whole phones %j [CSR-11]", (query, phones) => {
    expect(wholePhones(query)).toEqual(phones);
  });

  test.each([
    ["+49 170 1234567", "+49170123"],
    ["+49 170 1234567", "49170"],
    ["+491701234567", "+49 (170) 12"],
    ["+491701234567", "49 170"],
    ["(0170) 123-45-67", "0170/1234"],
    ["+49 170 1234567", "170"],
    ["+٤٩ ١٧٠", "+49 17"],
    ["+49 170", "٤٩١٧"],
    ["+49 17 01", "4 9 1 7"],
  ])("the phone %s is found by %s [CSR-08]", (phone, query) => {
    expect(findsPhone(phone, query)).toBe(true);
  });

  test.each([
    ["+491701234567", "170"],
    ["+49 170", "49 171"],
    ["+49 170", "491702"],
    ["+49 170", "0"],
  ])("the phone %s is not found by %s [CSR-08]", (phone, query) => {
    expect(findsPhone(phone, query)).toBe(false);
  });

  test.each([
    ["P8 4930", null, "49 30"],
    ["P8 4930", "030", "49 30"],
    ["Ann", "030/123456", "12 34"],
    ["Ann 1234", "+49 1", "12 34"],
    ["12345 Ann", null, "ann 12 34"],
    ["Unit 42", "+49170001", "unit 49 +17"],
    ["Unit 42", "+49170001", "unit 43 49 17"],
    ["Unit 42", "+49170001", "unit 42 49 18"],
  ])("the name %s with the phone %s is not found by %s [CSR-12]", (name, phone, query) => {
    expect(finds(contactTerms(name, phone), query)).toBe(false);
  });

  test.each([
    ["P8 4930", null, "4930"],
    ["P8 4930", null, "p8 49"],
    ["Ann", "030/123456", "030 12"],
    ["Ann", "030/123456", "12"],
    ["Ann Lee", "030/123456", "lee 03 01"],
    ["4930", "4930 1", "49 30"],
    ["Unit 42", "+49170001", "unit 42 49 17"],
    ["Unit 42", "+49170001", "unit 42 +49 17"],
    ["Unit 42", "+49170001", "unit +49 17 42"],
    ["Unit 42", "+49170001", "49 17 42 unit"],
    ["Unit 42", "+49170001", "+49 17 unit 42"],
    ["Flat 42 7", "+49170001", "42 49 17 7 flat"],
    ["Flat 1 2 3 4 5 6", "+49170001", "1 2 3 4 5 6 49 170 0"],
    ["House 4 2", "+49170001", "4 2 house 49 17"],
  ])("the name %s with the phone %s is found by %s [CSR-08, CSR-12]", (name, phone, query) => {
    expect(finds(contactTerms(name, phone), query)).toBe(true);
  });

  test("terms of the previous release, which mark no phone, are found by the beginning of their digits too [CSR-08]", () => {
    const before = terms([...recordWords("Ann"), ...phoneWords("030/123456")], CONTACT_SHAPE);
    expect([finds(before, "03 01"), finds(before, "0301 23456", matchesStoredText), finds(before, "99 1")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("a complete phone is a whole word, whatever its spaces [CSR-08, CSR-11]", () => {
    expect(findsPhone("+49 (170) 123", "49 17 0123", matchesStoredText)).toBe(true);
    expect(findsPhone("+49 (170) 123", "49 17 012", matchesStoredText)).toBe(false);
  });

  test("every phone is found by every beginning of its digits, with or without +, whatever the spaces in both [CSR-08]", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 40 });
    const gaps = fc.array(fc.constantFrom("", "", " ", "-", "(", ") ", "/", ".", "\u00a0"), {
      minLength: 40,
      maxLength: 40,
    });
    const plus = fc.constantFrom("", "+");
    const spaced = (text: string, between: string[]): string =>
      [...text].map((digit, at) => (between[at] ?? "") + digit).join("");
    fc.assert(
      fc.property(digits, gaps, gaps, plus, plus, fc.nat(), (all, inRecord, inQuery, sign, typed, length) => {
        const start = all.slice(0, 1 + (length % all.length));
        const texts = [sign + spaced(all, inRecord), typed + spaced(start, inQuery)] as const;
        // A zero in brackets is not dialled.
        fc.pre(!texts.some((text) => text.includes("(0)")));
        expect(findsPhone(...texts)).toBe(true);
      }),
      { numRuns: inForm(250, 1_000) },
    );
  });

  test("every query with names and numbers around a phone finds the matches of the contract, whichever word drives [CSR-08, CSR-12, SRC-05]", () => {
    const numRuns = inForm(800, 4_000);
    const met = { found: 0, missed: 0, amid: 0 };
    fc.assert(
      fc.property(contactAndQuery, ([contact, query]) => {
        const found = finds(contactTerms(contact.name, contact.phone), query);
        met[found ? "found" : "missed"] += 1;
        if (found && queryReadings(query).length > 2) met.amid += 1;
        // One phone is enough: another could only repeat its digits. Among more numbers not every place is tried.
        const numbers = query.match(/[0-9]+/g) ?? [];
        if (numbers.length <= 6 && matchesContact(contact, query, 1)) expect(found).toBe(true);
        // The rule here knows no country codes.
        const knowsCodes = /^\+|^[^1-9]*0[^1-9]*0/.test(contact.phone) || /\+|0[^1-9]*0/.test(query);
        if (found && !knowsCodes) expect(matchesContact(contact, query, Infinity)).toBe(true);
      }),
      { numRuns },
    );
    expect(Math.min(met.found, met.missed, met.amid)).toBeGreaterThan(numRuns / 20);
  });
});
