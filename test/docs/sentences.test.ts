// The sentences of the README, the changelog and the guide are short, and have none of the words to avoid.
import { expect, test } from "vitest";
import { wrongWordsIn } from "../messages/style.ts";
import { guide, readPage } from "./pages.ts";

const maxWords = 25;

/** The sentences of a page's prose: of its paragraphs, list items, headings and cells. Code counts as one word. */
function sentencesOf(prose: string): string[] {
  const blocks = prose
    .replace(/<[^>]+>/g, "")
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[|#])/)
    .flatMap((block) => (block.trim().startsWith("|") ? block.split("|") : [block]));
  return blocks.flatMap((block) =>
    block
      .replace(/(`+).+?\1/g, "Code")
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[*_#]+/g, "")
      .replace(/\s+/g, " ")
      .trim()
      .split(/(?<=[.!?]["”’)]?) (?=["“(]?[\p{Lu}\p{N}…])/u),
  );
}

function wordsIn(sentence: string): number {
  return sentence.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

const roots = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md", "CHANGELOG.md"];
const readmes = ["client", "deploy", "examples"].map((folder) => `${folder}/README.md`);
const pages = [...guide, ...[...roots, ...readmes].map(readPage)];

test.each(pages.map(({ path, prose }) => [path, prose] as const))(
  "no sentence of %s has more than 25 words",
  (_path, prose) => {
    const sentences = sentencesOf(prose);
    expect(sentences.length).toBeGreaterThan(5);
    expect(sentences.filter((sentence) => wordsIn(sentence) > maxWords)).toEqual([]);
  },
);

test.each(pages.map(({ path, prose }) => [path, prose] as const))(
  "no sentence of %s has a word of the list to avoid",
  (_path, prose) => {
    expect(
      sentencesOf(prose).flatMap((sentence) => wrongWordsIn(sentence).map((word) => `${word}: ${sentence}`)),
    ).toEqual([]);
  },
);

test("finds a long sentence in a paragraph, an item and a cell, and none in two short ones", () => {
  const long = `${"word ".repeat(26).trim()}.`;
  for (const prose of [`# Title\n\n${long}`, `- ${long}\n- Short.`, `| ${long} | Short. |`])
    expect(sentencesOf(prose).filter((sentence) => wordsIn(sentence) > maxWords)).toHaveLength(1);
  const short = `${"word ".repeat(20).trim()}. ${"Word ".repeat(20).trim()}.`;
  expect(sentencesOf(short).map(wordsIn)).toEqual([20, 20]);
});
