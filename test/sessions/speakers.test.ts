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
  ["Ludwig van der Berg: The tide", "Ludwig van der Berg"],
  ["van der Berg, Ann: The tide", "van der Berg, Ann"],
  ["SPEAKER_00: The tide", "SPEAKER_00"],
  ["spk_1: The tide", "spk_1"],
  ["ann@example.com: The tide", "ann@example.com"],
  ["**Ann Lee:** The tide", "Ann Lee"],
  ["**[00:05] Ann Lee:** The tide", "Ann Lee"],
  ["### Ann Lee [00:05]\nThe tide", "Ann Lee"],
  [">> ANN LEE: The tide", "ANN LEE"],
  ["[Ann Lee] Hello.\n[Ann Lee] The tide", "Ann Lee"],
  ["(Ann Lee)\nHello.\n(Ann Lee)\nThe tide", "Ann Lee"],
  ["【王小明】你好\n【王小明】The tide", "王小明"],
  ["[Ann Lee] 10:23:45\nThe tide", "Ann Lee"],
  ["Ann Lee  10:23 AM\nThe tide", "Ann Lee"],
  ["Class of 2026  0:03\nHello.\n\nClass of 2026  0:09\nThe tide", "Class of 2026"],
  ["Ann Lee | 00:05\nThe tide", "Ann Lee"],
  ["0:05 - Ann Lee (acme.com)\n  The tide", "Ann Lee (acme.com)"],
  ["[00:00:05.12] Ann Lee\n\nHello.\n\n[00:00:09.04] Ann Lee\n\nThe tide", "Ann Lee"],
  ["[00:01.2 --> 00:03.4] [SPEAKER_01] The tide", "SPEAKER_01"],
  ["10:23:45 From Ann Lee to Everyone:\n\tThe tide", "Ann Lee"],
  ["[12/05/24, 10:23:45] Ann Lee: The tide", "Ann Lee"],
  ["<v.first.loud Ann Lee>The tide", "Ann Lee"],
  ["0:01 --> 0:05\nAnn Lee\nHello.\n\n0:05 --> 0:09\nAnn Lee\nThe tide", "Ann Lee"],
  ["Ann: First.\r\nHer turn goes on.\r\nThe tide", "Ann"],
  ["Ann: First.\nBo: Second.\nThe tide", "Bo"],
  ["Ann: See https://example.com and the note: it is short.\nThe tide", "Ann"],
] as const)("of %j is %s [MCP-40]", (text, speaker) => {
  expect(speakerAt(text, text.indexOf("The tide"))).toBe(speaker);
});

test("what looks like a turn below a heading is said by its speaker [MCP-40]", () => {
  const text = "Ann Lee  0:03\nHello.\n\nBo Day  0:15\nQuestion: where is it?\nThe tide";
  expect(speakerAt(text, text.indexOf("The tide"))).toBe("Bo Day");
});

test.each([
  "The tide is in.",
  "and then: The tide is in.",
  "https://example.com The tide",
  "Agenda: https://example.com The tide",
  "Date: The tide",
  "- Status: The tide",
  "## Introduction: The tide",
  "[Music] Hello.\n[Music] The tide",
  "[Door Slams] The tide",
  "[00:00:03] Ann: Hello.\n[00:00:09] The tide",
  "[00:00:03] Thank You\nThe tide",
  "(Audience Applause)\nThe tide",
  "[Ann Lee](https://example.com) The tide",
  "0:01 --> 0:05\nThe New York Times\nThe tide",
  "[00:00:05] Welcome everybody\nThe tide",
  "At 10:30 The tide",
  "What she said to me and all the others: The tide",
  "Is it in?: The tide",
  `${"x\n".repeat(100)}The tide`,
  `Ann: First.\n${"x\n".repeat(100)}The tide`,
])("is unknown in %j [MCP-40]", (text) => {
  expect(speakerAt(text, text.indexOf("The tide"))).toBeUndefined();
});
