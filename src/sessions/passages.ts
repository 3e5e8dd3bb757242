// Passage search: finds the parts of a text that contain all words of a query.
import { createYielder } from "../large/pieces.ts";
import { hasWord } from "../search/terms.ts";
import { foldWithJoiners, isUnspaced, recordWords, withoutJoiners } from "../search/words.ts";
import { endOfCodePoint } from "../text/text.ts";

/** A passage, and its offset in the text, in Unicode code points. */
export interface Passage {
  readonly offset: number;
  readonly text: string;
  /** The place in the text of the line in which the words begin, in UTF-16 units. */
  readonly place: number;
}

/** The remaining budget of a search, which decreases as it runs. */
export interface Budget {
  /** The number of passages to find. */
  passages: number;
  /** The number of pieces whose words may be compared one by one. */
  pieces: number;
}

/** A line, or a part of a long line. Positions are in UTF-16 units. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly folded: string;
}

/** The usual maximum length of a piece in UTF-16 units, and the maximum number of consecutive pieces in a passage. */
const usualLength = 200;
const maxPieces = 3;
/** The length of text that is searched for all words at once. */
const stretchLength = 2_048;

/**
 * Returns the passages that contain all words of one of the `readings`, in order, each with the adjacent text.
 * Subtracts its cost from the budget, and ends early once that is used up. Calls `requireNotPast`, which fails once the
 * deadline has passed.
 */
export async function findPassages(
  text: string,
  readings: readonly (readonly string[])[],
  budget: Budget,
  requireNotPast: () => void,
): Promise<Passage[]> {
  const found: Passage[] = [];
  const count = createCounter(text);
  const pauseIfDue = createYielder(requireNotPast);
  const words = [...new Set(readings.flat())];
  const longest = Math.max(0, ...words.map(({ length }) => length));
  // If a piece ends inside a word, the next piece begins before that word. Each piece is at least half new, so that the
  // time is linear.
  const overlap = longest - 1;
  const pieceLength = Math.max(usualLength, 2 * longest);
  let recent: Piece[] = [];
  let [at, taken, stretchEnd] = [0, 0, 0];
  while (at < text.length && budget.passages > 0 && budget.pieces > 0) {
    const pause = pauseIfDue();
    if (pause !== undefined) await pause;
    if (at >= stretchEnd) {
      stretchEnd = at + stretchLength;
      // Counts as it proceeds, but not beyond the earliest place where a passage can still begin.
      count(at - (maxPieces + 1) * pieceLength);
      // Most stretches contain no word, and are skipped.
      const stretch = foldedForSearch(text.slice(at, stretchEnd + pieceLength));
      if (!words.some((word) => stretch.includes(word))) {
        [at, recent] = [betweenLetters(text, stretchEnd), []];
        continue;
      }
    }
    const { end, isWhole } = endOfPiece(text, at, pieceLength);
    const own = text.slice(at, end);
    const piece = { start: at, end, text: own, folded: foldedForSearch(own) };
    at = isWhole || end === text.length ? end : betweenLetters(text, end - overlap);
    recent = [...recent.slice(1 - maxPieces), piece];
    const [first] = readings.flatMap((own) => beginningOfRow(recent, own, budget) ?? []);
    if (first === undefined) continue;
    const start = Math.max(taken, startBefore(text, first.start, pieceLength));
    taken = end === text.length ? end : endOfPiece(text, end, pieceLength).end;
    const passage = text.slice(start, taken);
    const offset = count(start + passage.length - passage.trimStart().length);
    found.push({ offset, text: passage.trim(), place: first.start });
    budget.passages--;
    [at, recent] = [taken, []];
  }
  return found;
}

/**
 * Returns the first piece of the shortest sequence that ends with the last piece and contains all words. Returns
 * undefined if no sequence contains them.
 */
function beginningOfRow(recent: readonly Piece[], words: readonly string[], budget: Budget): Piece | undefined {
  // Cheap test first: a word cannot occur if its letters do not.
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
  // The form in which a record stores its words, see `src/search/terms.ts`.
  const n = ` ${recordWords(text).join(" ")} `;
  return maybe.filter((word) => (isLetter(word) ? n.includes(` ${word} `) : hasWord(n, word)));
}

/** Whether a word is one letter or digit, which matches whole words only, as in notes (contract §3.1). */
function isLetter(word: string): boolean {
  return word.length === endOfCodePoint(word, 0) && !isUnspaced(word);
}

/**
 * Returns the end of the line that begins at `start`, or of the last word that fits. `isWhole` is false if a word is
 * cut.
 */
function endOfPiece(
  text: string,
  start: number,
  pieceLength: number,
): { readonly end: number; readonly isWhole: boolean } {
  const piece = text.slice(start, start + pieceLength);
  const line = piece.indexOf("\n");
  if (line !== -1) return { end: start + line + 1, isWhole: true };
  if (start + pieceLength >= text.length) return { end: text.length, isWhole: true };
  for (let last = piece.length - 1; last > 0; last--)
    if (/\s/.test(piece.charAt(last))) return { end: start + last + 1, isWhole: true };
  return { end: endOfCodePoint(text, start + pieceLength - 1), isWhole: false };
}

/** Returns `place`, or the next position if it is inside a surrogate pair. */
function betweenLetters(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff ? place + 1 : place;
}

/** Returns the beginning of the line that ends at `end`, or that of a nearby word in a long line. */
function startBefore(text: string, end: number, pieceLength: number): number {
  const from = Math.max(0, end - pieceLength);
  const before = text.slice(from, Math.max(from, end - 1));
  const line = before.lastIndexOf("\n");
  if (line !== -1) return from + line + 1;
  if (from === 0) return 0;
  const blank = before.indexOf(" ");
  return blank === -1 ? end : from + blank + 1;
}

/**
 * Returns a function that counts the code points before a place in the text. Each place must follow the previous one.
 */
function createCounter(text: string): (place: number) => number {
  let [at, count] = [0, 0];
  return (place) => {
    for (; at < place; at = endOfCodePoint(text, at)) count++;
    return count;
  };
}

/**
 * Folds a text without what joins words or, in some scripts, divides none. It has the letters of each word in order, as
 * no word has a joiner. A pattern for joiners in a word would take time in proportion to the word's length.
 */
function foldedForSearch(text: string): string {
  return withoutJoiners(foldWithJoiners(text));
}
