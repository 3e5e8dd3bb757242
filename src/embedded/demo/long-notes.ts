// Generates notes of several pages: a typed-up notebook, or the full minutes of a session.
import { between, deck, type Random } from "./random.ts";
import type { Story } from "./story.ts";
import { fill } from "./template.ts";
import contactTexts from "./texts/contact-sentences.json" with { type: "json" };
import texts from "./texts/session-sentences.json" with { type: "json" };

const { actionLines, decisionLines, scribbles, summarySentences } = texts;

/** Returns a typed-up notebook of at least `length` characters. */
export function collectedNotes(story: Story, day: number, length: number, random: Random): string {
  const sentence = deck(random, [...contactTexts.clientNotes, ...scribbles, ...summarySentences]);
  const lines = [fill("From my notebook on {topic}, typed up. 📝", story.slotsAt(day), random)];
  for (let size = 0, page = 1; size < length + 200; page++) {
    const slots = story.slotsAt(Math.max(story.begin, day - 3 * page));
    const text = Array.from({ length: between(random, 2, 5) }, () => fill(sentence(), slots, random)).join(" ");
    lines.push(`p. ${page} – ${text}`);
    size += text.length + 8;
  }
  return lines.join("\n\n");
}

/** Returns the minutes of a session, with at least `length` characters. */
export function minutesOf(story: Story, day: number, length: number, random: Random): string {
  const slots = story.slotsAt(day);
  const sentence = deck(random, summarySentences);
  const parts: string[] = [];
  const bullets = (lines: readonly string[], count: number): string => {
    const line = deck(random, lines);
    return Array.from({ length: count }, () => `- ${fill(line(), slots, random)}`).join("\n");
  };
  for (let size = 0; size < length; size += (parts.at(-1) as string).length) {
    parts.push(Array.from({ length: between(random, 3, 6) }, () => fill(sentence(), slots, random)).join(" "));
  }
  return [...parts, `Decisions\n${bullets(decisionLines, 3)}`, `Next\n${bullets(actionLines, 5)}`].join("\n\n");
}
