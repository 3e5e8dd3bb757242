// Finds the passages of a text in which words were said.
import { largeTurn } from "../large/places.ts";
import { fold } from "../search/fold.ts";
import { checkPattern } from "../search/terms.ts";
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
 * The passages that have every one of the `words` (`queryWords`), in their order, each with what stands before and
 * after it. Takes from the budget what it costs, and ends early once that is spent.
 */
export async function findPassages(text: string, words: readonly string[], budget: Budget): Promise<Passage[]> {
  const found: Passage[] = [];
  const count = createCounter(text);
  let recent: Piece[] = [];
  let taken = 0;
  for (let at = 0; at < text.length && budget.passages > 0 && budget.pieces > 0; ) {
    const end = endOfPiece(text, at, stretchLength);
    // Most stretches have nothing to look at.
    const stretch = recent.map(({ folded }) => folded).join(" ") + foldedForSearch(text.slice(at, end));
    if (words.some((word) => stretch.includes(word))) {
      for (const piece of piecesOf(text, at, end)) {
        recent = [...recent.slice(1 - mostPieces), piece];
        const first = beginningOfRow(recent, words, budget);
        if (first === undefined || budget.passages === 0) continue;
        const start = Math.max(taken, startBefore(text, first.start));
        taken = endOfPiece(text, piece.end, pieceLength);
        const passage = text.slice(start, taken);
        found.push({ offset: count(start + passage.length - passage.trimStart().length), text: passage.trim() });
        budget.passages--;
        recent = [];
      }
    } else recent = [];
    at = end;
    await largeTurn();
  }
  return found;
}

function* piecesOf(text: string, from: number, to: number): Iterable<Piece> {
  for (let start = from; start < to; ) {
    const end = Math.min(to, endOfPiece(text, start, pieceLength));
    const own = text.slice(start, end);
    yield { start, end, text: own, folded: foldedForSearch(own) };
    start = end;
  }
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
  return maybe.filter((word) => n.includes(checkPattern(word)));
}

/** The end of the line that begins here, or of the last word that fits into so many units. */
function endOfPiece(text: string, start: number, most: number): number {
  if (most === pieceLength) {
    const line = text.indexOf("\n", start);
    if (line !== -1 && line < start + most) return line + 1;
  }
  if (start + most >= text.length) return text.length;
  const blank = text.lastIndexOf(" ", start + most);
  if (blank > start) return blank + 1;
  return endOfCodePoint(text, start + most - 1);
}

/** Where the line begins that ends here, or a word in it that is near. */
function startBefore(text: string, end: number): number {
  const from = Math.max(0, end - pieceLength);
  const before = text.slice(from, Math.max(from, end - 1));
  const line = before.lastIndexOf("\n");
  if (line !== -1) return from + line + 1;
  const blank = from === 0 ? -1 : before.indexOf(" ");
  return blank === -1 ? (from === 0 ? 0 : end) : from + blank + 1;
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
