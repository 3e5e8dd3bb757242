// The part of a text around the words of a query that it has, however they are written (contract §3.1).
import type { Reading } from "./readings.ts";
import { isOnlyWhole, NOTE_SHAPE } from "./terms.ts";
import { findWord, foldWithJoiners } from "./words.ts";

/** The length of the pieces by which a place in a folded text leads to one in the text, in UTF-16 units. */
const pieceLength = 128;
/** Before which a text can be divided without a change of its folded form. */
const STARTER = /^[^\p{M}\p{Default_Ignorable_Code_Point}\uDC00-\uDFFF]/u;
const BEFORE_STARTER = /(?=[^\p{M}\p{Default_Ignorable_Code_Point}])/u;
const WHITE_SPACE = /\s/;
let segmenter: Intl.Segmenter | undefined;

/** Where words begin in a text, in UTF-16 units. */
export interface Places {
  /** Returns the first place of a word of a reading, as notes match it; undefined if the text lacks it. */
  of(word: string): number | undefined;
}

/** Returns the places of words in a text, which is folded once. */
export function placesIn(text: string): Places {
  const pieces: { readonly from: number; readonly at: number }[] = [];
  let folded = "";
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + pieceLength);
    while (to < text.length && !STARTER.test(text.slice(to, to + 2))) to += 1;
    pieces.push({ from, at: folded.length });
    folded += foldWithJoiners(text.slice(from, to));
    from = to;
  }
  const known = new Map<string, number | undefined>();
  const placeOf = (at: number): number => {
    const next = pieces.findIndex((piece) => piece.at > at);
    const { from, at: begin } = pieces[(next === -1 ? pieces.length : next) - 1] ?? { from: 0, at: 0 };
    let [place, reached] = [from, begin];
    for (const letter of text.slice(from, pieces[next]?.from).split(BEFORE_STARTER)) {
      reached += foldWithJoiners(letter).length;
      if (reached > at) return place;
      place += letter.length;
    }
    return place;
  };
  return {
    of(word) {
      if (!known.has(word)) {
        const at = findWord(folded, word, isOnlyWhole(word, NOTE_SHAPE));
        known.set(word, at === -1 ? undefined : placeOf(at));
      }
      return known.get(word);
    },
  };
}

/**
 * Returns the part of a text around the first word of its match that is not in the beginning up to `shown`. Returns
 * undefined if that has all words of the match.
 */
export function excerptBeyond(
  text: string,
  shown: number,
  readings: readonly Reading[],
  length: number,
): string | undefined {
  const matchIn = (places: Places): Reading | undefined =>
    readings.find(({ words }) => words.every((word) => places.of(word) !== undefined));
  // Most matches are there, and the rest of a long text need not be read.
  if (matchIn(placesIn(text.slice(0, shown))) !== undefined) return undefined;
  const places = placesIn(text);
  const matched = matchIn(places);
  const words = matched?.words ?? readings.flatMap((reading) => reading.words);
  const beyond = words.flatMap((word) => {
    const place = places.of(word);
    return place === undefined || place + word.length <= shown ? [] : [place];
  });
  if (beyond.length === 0) return undefined;
  const { from, to } = partAround(text, Math.min(...beyond), length);
  return text.slice(from, to);
}

/**
 * Returns the bounds of a part of a text around a place, of about this length. It begins after white space if that is
 * near, and cuts no character that a reader sees as one.
 */
export function partAround(
  text: string,
  place: number,
  length: number,
): { readonly from: number; readonly to: number } {
  const earliest = place - Math.floor(length / 4);
  if (earliest <= 0) return { from: 0, to: endOf(text, length) };
  const blank = text.slice(earliest, place).search(WHITE_SPACE);
  const from = startOfCharacter(text, blank === -1 ? earliest : earliest + blank + 1);
  return { from, to: endOf(text, from + length) };
}

function endOf(text: string, at: number): number {
  return at >= text.length ? text.length : startOfCharacter(text, at);
}

function startOfCharacter(text: string, at: number): number {
  segmenter ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return segmenter.segment(text).containing(at)?.index ?? at;
}
