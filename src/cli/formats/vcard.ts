// Reads contacts from vCards of any version (2.1, RFC 2426, RFC 6350), as phones and mail programs write them.
import { decoderOf } from "./encoding.ts";
import type { Entry } from "./entry.ts";
import { contactRecord } from "./entry.ts";
import type { Line } from "./lines.ts";
import { byteLinesOf, withoutReturns } from "./lines.ts";
import { contactOf, isImported } from "./vcard-contact.ts";
import type { PropertyStart, RawProperty } from "./vcard-property.ts";
import { isKnownStart, isQuotedPrintable, startOf } from "./vcard-property.ts";

/** The maximum length of what is kept of a card, in bytes. The lines of pictures do not count. */
const maxCardLength = 16 * 1024 * 1024;

const begin = /^BEGIN:\s*VCARD\s*$/i;
const end = /^END:\s*VCARD/i;
const indented = /^[\t ]+(?=BEGIN:)/i;
const mayBeEdge = /^[BbEe\xef]/;
/** The bytes of a byte order mark in UTF-8: files that were joined have one before each card. */
const marks = /^(?:\xef\xbb\xbf)+/;

/** A card that is being read. */
interface Card {
  readonly line: number;
  /** The lines of the card, for a file of rejected entries. */
  readonly kept: string[];
  readonly properties: RawProperty[];
  size: number;
  leftOut: number;
  /** The property whose value may continue. */
  current: Current | undefined;
  /** Empty lines that belong to a text if it continues after them. */
  emptyLines: number;
  /** How many cards within this card are open: the AGENT of a 2.1 card. */
  depth: number;
  isOld: boolean;
}

interface Current extends PropertyStart {
  /** The pieces of its text; undefined if the property is not imported. */
  readonly pieces: string[] | undefined;
  readonly isQuotedPrintable: boolean;
  /** Whether a soft line break of quoted-printable has just ended a line. */
  isSoft: boolean;
  /** Whether the card of an agent may begin in the next line, or has begun in this one. */
  readonly agent: "none" | "may begin" | "begun";
}

/**
 * Reads one contact from each card. A property that cannot be read is left out and counted. A group of contacts is
 * skipped. A card without a name, email, phone or note, or that the end of the file cuts off, becomes an entry with a
 * problem.
 */
export async function* readVcards(chunks: AsyncIterable<Uint8Array>, said?: string): AsyncIterable<Entry> {
  const { encoding, lines: all } = await byteLinesOf(chunks, said);
  const textOf = lossyDecoder(encoding);
  let card: Card | undefined;
  /** The first of several lines outside of a card. They are one problem. */
  let outside: Line | undefined;

  /** How many line ends without a line feed came before. */
  let extra = 0;
  /** The blanks before each line of a card that a program has indented. Folded lines have one more. */
  let indent = "";
  for await (const lines of all) {
    for (const { number, text, problem } of lines) {
      if (card === undefined) indent = indented.exec(text)?.[0] ?? "";
      const whole = withoutReturns(text.startsWith(indent) ? text.slice(indent.length) : text);
      // Most lines are those of pictures, and neither begin nor end a card.
      if (card !== undefined && problem === undefined && !mayBeEdge.test(whole) && !whole.includes("\r")) {
        takeLine(card, { number, text: whole }, whole);
        continue;
      }
      // Old programs of the Mac end lines with CR alone.
      for (const [at, one] of whole.split("\r").entries()) {
        if (at > 0) extra++;
        yield* take({ number: number + extra, text: one, ...(problem !== undefined && { problem }) });
      }
    }
  }
  if (card !== undefined) yield unfinished(card);
  yield* endOutside();

  function* take(line: Line): Iterable<Entry> {
    const text = line.text.trimEnd().replace(marks, "");
    if (card === undefined && !begin.test(text)) {
      if (text !== "" || line.problem !== undefined) outside ??= line;
      return;
    }
    yield* endOutside();
    if (begin.test(text) && card?.current?.agent === "may begin") {
      beginAgent(card);
    } else if (begin.test(text)) {
      // The next card ends one that has no end.
      if (card !== undefined) yield entryOf(card);
      card = newCard(line.number);
      keep(card, text, true);
    } else if (card !== undefined && end.test(text)) {
      yield* finish(card, text, line.number);
    } else if (card !== undefined) {
      takeLine(card, line, line.text.replace(marks, ""));
    }
  }

  /** Ends a card, or the card within it. Another one may begin in the same line. */
  function* finish(open: Card, text: string, number: number): Iterable<Entry> {
    keep(open, text, true);
    const rest = text.replace(end, "").trimStart();
    if (open.depth > 0) open.depth--;
    else {
      card = undefined;
      yield entryOf(open);
    }
    if (rest !== "") yield* take({ number, text: rest });
  }

  function* endOutside(): Iterable<Entry> {
    if (outside === undefined) return;
    const { number, text, problem = "is outside a card: a card begins with BEGIN:VCARD" } = outside;
    outside = undefined;
    yield { line: number, input: textOf(text), content: { problem } };
  }

  function unfinished({ line, kept }: Card): Entry {
    return { line, input: textOf(kept.join("\n")), content: { problem: "the card has no END:VCARD" } };
  }

  function entryOf(found: Card): Entry {
    closeProperty(found);
    const [line, input] = [found.line, textOf(found.kept.join("\n"))];
    if (found.size > maxCardLength) return { line, input, content: { problem: "the card is longer than 16 MiB" } };
    const content = contactOf(found.properties, encoding);
    const leftOut = found.leftOut + content.leftOut;
    if ("fields" in content) return { line, input, leftOut, content: { record: contactRecord(content.fields) } };
    return { line, input, leftOut, content };
  }
}

function newCard(line: number): Card {
  const [kept, properties] = [[], []];
  return { line, kept, properties, size: 0, leftOut: 0, current: undefined, emptyLines: 0, depth: 0, isOld: false };
}

function beginAgent(card: Card): void {
  card.depth++;
  card.current = undefined;
}

/** Keeps a line of a card. Once the card is large, only the lines of imported properties are kept. */
function keep(card: Card, text: string, isNeeded: boolean): void {
  const size = card.size + text.length;
  if (size > maxCardLength && !isNeeded) return;
  card.size = size;
  if (size <= maxCardLength) card.kept.push(text);
}

/** Takes a line within a card. */
function takeLine(card: Card, { problem }: Line, text: string): void {
  const { current } = card;
  if (current?.agent === "begun") {
    // A folded card is a text. Another one has lines of its own.
    if (/^[\t ]/.test(text)) card.current = { ...current, agent: "none" };
    else beginAgent(card);
  }
  const started =
    text[0] === " " || (current?.isSoft === true && !endsSoftBreak(current, text)) ? undefined : startOf(text);
  keep(card, text, started === undefined ? current?.pieces !== undefined : isImported(started.name));
  if (problem !== undefined) {
    closeProperty(card);
    card.leftOut++;
  } else if (card.depth > 0) {
    // The lines of a card within a card belong to no contact, but its own agent may follow.
    card.current = started === undefined ? undefined : ignoredOf(started, agentOf(started, text));
  } else if (started !== undefined) {
    begins(card, started, text);
  } else if (current !== undefined) {
    continues(card, current, text);
  }
}

/** Returns whether a soft line break is none: old phones write one after the last line of a text. */
function endsSoftBreak({ pieces = [] }: Current, text: string): boolean {
  return !/(?:=0[AD]|=20|[\t ])$/i.test(pieces.at(-1) ?? "") && isKnownStart(text);
}

function ignoredOf({ name, group, end: at }: PropertyStart, agent: Current["agent"]): Current {
  return { name, group, end: at, pieces: undefined, isQuotedPrintable: false, isSoft: false, agent };
}

function agentOf({ name, end: at }: PropertyStart, text: string): Current["agent"] {
  if (name !== "AGENT") return "none";
  const value = text.slice(text.indexOf(":", at) + 1).trim();
  return value === "" ? "may begin" : begin.test(value) ? "begun" : "none";
}

function begins(card: Card, started: PropertyStart, text: string): void {
  closeProperty(card);
  const rest = text.slice(started.end);
  if (started.name === "VERSION" && rest.trim() === ":2.1") card.isOld = true;
  if (!isImported(started.name)) {
    card.current = ignoredOf(started, agentOf(started, text));
    return;
  }
  const { name, group, end: at } = started;
  card.current = {
    name,
    group,
    end: at,
    pieces: [],
    isQuotedPrintable: isQuotedPrintable(rest),
    isSoft: false,
    agent: "none",
  };
  add(card.current, rest);
}

/** Continues the value of a property: after a soft line break, in a folded line, or after a line break in a text. */
function continues(card: Card, current: Current, text: string): void {
  const isFolded = /^[\t ]/.test(text);
  if (current.pieces === undefined) return;
  if (current.isSoft) {
    add(current, text);
  } else if (text === "") {
    card.emptyLines++;
  } else if (isFolded && card.emptyLines === 0) {
    // 2.1 folds a line before a blank, which stays.
    add(current, card.isOld ? text : text.slice(1));
  } else {
    current.pieces.push("\n".repeat(card.emptyLines + 1));
    card.emptyLines = 0;
    add(current, text);
  }
}

function add(current: Current, text: string): void {
  current.isSoft = current.isQuotedPrintable && text.endsWith("=");
  current.pieces?.push(current.isSoft ? text.slice(0, -1) : text);
}

function closeProperty(card: Card): void {
  const { current } = card;
  card.emptyLines = 0;
  card.current = undefined;
  if (current?.pieces === undefined) return;
  card.properties.push({ name: current.name, group: current.group, text: joinedText(current, current.pieces) });
}

/** A continuation of a character cannot follow a blank: then the lines are folded as well as softly broken. */
const foldedWithin = /^[\t ]=[89AB][\dA-F]/i;

function joinedText({ isQuotedPrintable: isQuoted }: Current, pieces: readonly string[]): string {
  const isFolded =
    isQuoted && !/;CHARSET=(?!UTF-8)/i.test(pieces[0] ?? "") && pieces.some((one) => foldedWithin.test(one));
  return (isFolded ? pieces.map((one) => one.replace(/^[\t ]/, "")) : pieces).join("");
}

/** Returns a decoder for the text of rejected entries, in which invalid bytes become U+FFFD. */
function lossyDecoder(encoding: string): (bytes: string) => string {
  const decoder = new TextDecoder(encoding);
  const exact = decoderOf(encoding);
  return (bytes) => {
    const buffer = Buffer.from(bytes, "latin1");
    return exact(buffer) ?? decoder.decode(buffer);
  };
}
