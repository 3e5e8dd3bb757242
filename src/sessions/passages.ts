// Finds the passages of a text in which words were said.
import { yieldToEventLoop } from "../large/places.ts";
import { fold } from "../search/fold.ts";
import { hasWord } from "../search/terms.ts";
import { wordsInTurn } from "../search/words.ts";
import { endOfCodePoint } from "../text.ts";

/** A passage, and where it begins in the text, counted in Unicode characters. */
export interface Passage {
  readonly offset: number;
  readonly text: string;
}

/** What a search may still cost. */
export interface Budget {
  /** Passages. */
  passages: number;
  /** Pieces whose words are looked at one by one. */
  pieces: number;
}

/** A line, or a part of a long one, in UTF-16 units. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly folded: string;
}

/** The longest piece, and how many in a row make a passage at most. */
const pieceLength = 200;
const mostPieces = 3;
/** So much of a text is looked at before other requests have their turn. */
const stretchLength = 65_536;
const zeroWidthSpace = /\u200b/g;

/**
 * The passages that have every one of the `words` (`queryWords`), in their order, each with the text before and
 * after it. Takes from the budget what it costs, and ends early once that is spent; `requireTime` fails once there is
 * no time left.
 */
export async function findPassages(
  text: string,
  words: readonly string[],
  budget: Budget,
  requireTime: () => void,
): Promise<Passage[]> {
  const found: Passage[] = [];
  const count = createCounter(text);
  // A piece that ends within a word is followed by one that begins before that word.
  const overlap = Math.max(0, ...words.map(({ length }) => length)) - 1;
  let recent: Piece[] = [];
  let [at, taken, stretchEnd] = [0, 0, 0];
  while (at < text.length && budget.passages > 0 && budget.pieces > 0) {
    if (at >= stretchEnd) {
      await yieldToEventLoop();
      requireTime();
      stretchEnd = at + stretchLength;
      // Most stretches have nothing to look at.
      const stretch = foldedForSearch(text.slice(at, stretchEnd + pieceLength));
      if (!words.some((word) => stretch.includes(word))) {
        [at, recent] = [betweenLetters(text, stretchEnd), []];
        continue;
      }
    }
    const { end, isWhole } = endOfPiece(text, at);
    const own = text.slice(at, end);
    const piece = { start: at, end, text: own, folded: foldedForSearch(own) };
    at = isWhole || end === text.length ? end : betweenLetters(text, Math.max(at + 1, end - overlap));
    recent = [...recent.slice(1 - mostPieces), piece];
    const first = beginningOfRow(recent, words, budget);
    if (first === undefined) continue;
    const start = Math.max(taken, startBefore(text, first.start));
    taken = end === text.length ? end : endOfPiece(text, end).end;
    const passage = text.slice(start, taken);
    found.push({ offset: count(start + passage.length - passage.trimStart().length), text: passage.trim() });
    budget.passages--;
    [at, recent] = [taken, []];
  }
  return found;
}

/** The piece with which the shortest row begins that ends with the last one and has all the words. */
function beginningOfRow(recent: readonly Piece[], words: readonly string[], budget: Budget): Piece | undefined {
  // Where the letters are not there, the words are not either.
  if (!words.every((word) => recent.some(({ folded }) => folded.includes(word)))) return undefined;
  const missing = new Set(words);
  return recent.findLast((piece) => {
    for (const word of wordsIn(piece, [...missing], budget)) missing.delete(word);
    return missing.size === 0;
  });
}

function wordsIn({ text, folded }: Piece, words: readonly string[], budget: Budget): readonly string[] {
  const maybe = words.filter((word) => folded.includes(word));
  if (maybe.length === 0 || budget.pieces === 0) return [];
  budget.pieces--;
  // As a record stores its words, see `src/search/terms.ts`.
  const n = ` ${wordsInTurn(text).join(" ")} `;
  return maybe.filter((word) => hasWord(n, word));
}

/** The end of the line that begins here, or of the last word that fits; not whole where a word is cut. */
function endOfPiece(text: string, start: number): { readonly end: number; readonly isWhole: boolean } {
  const piece = text.slice(start, start + pieceLength);
  const line = piece.indexOf("\n");
  if (line !== -1) return { end: start + line + 1, isWhole: true };
  if (start + pieceLength >= text.length) return { end: text.length, isWhole: true };
  for (let last = piece.length - 1; last > 0; last--)
    if (/\s/.test(piece.charAt(last))) return { end: start + last + 1, isWhole: true };
  return { end: endOfCodePoint(text, start + pieceLength - 1), isWhole: false };
}

/** The place, or the next one where it lies within a letter of two units. */
function betweenLetters(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff ? place + 1 : place;
}

/** Where the line begins that ends here, or a word in it that is near. */
function startBefore(text: string, end: number): number {
  const from = Math.max(0, end - pieceLength);
  const before = text.slice(from, Math.max(from, end - 1));
  const line = before.lastIndexOf("\n");
  if (line !== -1) return from + line + 1;
  if (from === 0) return 0;
  const blank = before.indexOf(" ");
  return blank === -1 ? end : from + blank + 1;
}

/** Counts the Unicode characters before a place in the text; each place lies after the one before. */
function createCounter(text: string): (place: number) => number {
  let [at, count] = [0, 0];
  return (place) => {
    for (; at < place; at = endOfCodePoint(text, at)) count++;
    return count;
  };
}

/** Words divide at a zero-width space in some scripts alone: what is looked for may lie over one. */
function foldedForSearch(text: string): string {
  return fold(text).replace(zeroWidthSpace, "");
}
