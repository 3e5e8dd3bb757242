// The speaker of a passage, in the usual forms of transcripts.
import { expect, test } from "vitest";
import { speakerAt } from "../../src/sessions/speakers.ts";

test.each([
  ["Ann: The tide is in.", "Ann"],
  ["[00:03:12] Ann Lee: The tide is in.", "Ann Lee"],
  ["(0:04) Ann: The tide", "Ann"],
  ["00:03.120 - Ann: The tide", "Ann"],
  ["Ann Lee (0:04): The tide", "Ann Lee"],
  ["Ann Lee [00:04:10]: The tide", "Ann Lee"],
  ["Ann Lee  00:04\nThe tide", "Ann Lee"],
  ["<v Ann Lee>The tide", "Ann Lee"],
  ["SPEAKER 1: The tide", "SPEAKER 1"],
  ["Dr. Ann O’Neil-Lee: The tide", "Dr. Ann O’Neil-Lee"],
  ["王小明：The tide", "王小明"],
  ["יעל: The tide", "יעל"],
  ["Vincent van Gogh: The tide", "Vincent van Gogh"],
  ["Ann: First.\r\nHer turn goes on.\r\nThe tide", "Ann"],
  ["Ann: First.\nBo: Second.\nThe tide", "Bo"],
  ["Ann: See https://example.com and the note: it is short.\nThe tide", "Ann"],
] as const)("of %j is %s [MCP-40]", (text, speaker) => {
  expect(speakerAt(text, text.indexOf("The tide"))).toBe(speaker);
});

test.each([
  "The tide is in.",
  "and then: The tide is in.",
  "https://example.com The tide",
  "At 10:30 The tide",
  "What she said to me and all the others: The tide",
  "Is it in?: The tide",
  `${"x\n".repeat(100)}The tide`,
  `Ann: First.\n${"x\n".repeat(100)}The tide`,
])("is unknown in %j [MCP-40]", (text) => {
  expect(speakerAt(text, text.indexOf("The tide"))).toBeUndefined();
});
