// Search terms of transcripts: few for each word, because an hour of speech has thousands of words.
import { createYielder } from "../large/pieces.ts";
import { isUnspaced, recordWords } from "../search/words.ts";
import { endOfCodePoint } from "../text/text.ts";

/**
 * The lengths of a word's stored prefixes, in code points. A query word of another length has the term of the next
 * shorter one, which few other words share. Storing every length would make the index half as large again.
 */
const lengths = [2, 3, 4, 6, 8];
/** The same in scripts without blanks, where a prefix begins at every character. */
const unspacedLengths = [1, 2];
/**
 * The maximum number of terms of a transcript, so that the document fits in MongoDB's 16 MB. 90 hours of English have
 * 30,000. The words of a longer transcript are indexed in order, until this number is reached.
 */
const maxTerms = 200_000;
/** The text whose words are split at once, in UTF-16 units. */
const pieceLength = 16_384;
/** If a piece ends inside a word, the next piece repeats its end, so that no prefix is lost. */
const overlap = 32;
const blank = /\s/;

/** Returns the search terms of a transcript. Calls `requireNotPast`, which fails once the deadline has passed. */
export async function spokenTerms(text: string, requireNotPast: () => void): Promise<string[]> {
  const pauseIfDue = createYielder(requireNotPast);
  const [words, found] = [new Set<string>(), new Set<string>()];
  for (let at = 0; at < text.length && found.size < maxTerms; ) {
    const pause = pauseIfDue();
    if (pause !== undefined) await pause;
    const end = endOfPiece(text, at);
    for (const word of recordWords(text.slice(at, end))) {
      if (words.has(word)) continue;
      words.add(word);
      addTerms(found, word);
    }
    at = end === text.length || blank.test(text.charAt(end - 1)) ? end : endOfCodePoint(text, end - overlap);
  }
  return [...found].slice(0, maxTerms);
}

/**
 * Returns search terms of every transcript in which a word beginning with `word`, one of `queryWords`, was said: the
 * longest one, and in a script without blanks every pair of letters. A word of one letter or digit matches whole words
 * only, as in notes (contract §3.1).
 */
export function queryTerms(word: string): string[] {
  if (!isUnspaced(word)) return [word.slice(0, endsOf(word, 0, lengths).at(-1) ?? word.length)];
  const pairs: string[] = [];
  for (let at = 0; at < word.length; at = endOfCodePoint(word, at))
    for (const end of endsOf(word, at, [2])) pairs.push(word.slice(at, end));
  return pairs.length === 0 ? [word] : pairs;
}

function addTerms(found: Set<string>, word: string): void {
  if (!isUnspaced(word)) {
    const ends = endsOf(word, 0, lengths);
    for (const end of ends.length === 0 ? [word.length] : ends) found.add(word.slice(0, end));
  } else
    for (let at = 0; at < word.length; at = endOfCodePoint(word, at))
      for (const end of endsOf(word, at, unspacedLengths)) found.add(word.slice(at, end));
}

/** Returns where the prefixes of these lengths end that the word has from this place on. */
function endsOf(word: string, from: number, stored: readonly number[]): number[] {
  const ends: number[] = [];
  let end = from;
  for (let length = 1; end < word.length && ends.length < stored.length; length++) {
    end = endOfCodePoint(word, end);
    if (stored.includes(length)) ends.push(end);
  }
  return ends;
}

/** Returns the end of the piece from `start`: after its last blank, or else between two characters. */
function endOfPiece(text: string, start: number): number {
  const limit = start + pieceLength;
  if (limit >= text.length) return text.length;
  for (let end = limit; end > limit - pieceLength / 2; end--) if (blank.test(text.charAt(end - 1))) return end;
  return endOfCodePoint(text, limit - 1);
}
