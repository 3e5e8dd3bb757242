// Generates an account of any size as reproducible NDJSON, with a digest of its records.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { mulberry32 } from "../../fixtures/random.ts";

/** The number of records of each kind. */
export interface BulkSize {
  readonly contacts: number;
  readonly sessions: number;
  readonly notes: number;
}

/** An order-independent digest: the number of records of a kind, and the sum of their hashes. */
export interface Digest {
  count: number;
  sum: number;
}

const minute = 60_000;
const start = Date.UTC(2022, 0, 1);
const syllables = [
  "ka",
  "lo",
  "mi",
  "ren",
  "ta",
  "vo",
  "si",
  "del",
  "bra",
  "no",
  "que",
  "fu",
  "har",
  "ost",
  "li",
  "ma",
  "per",
  "tu",
  "wen",
  "xi",
  "zo",
  "and",
  "er",
  "sch",
  "ell",
];

/**
 * Writes the file: contacts and sessions with external ids, and their notes without. Every note contains the word
 * "every", and every tenth note "tenth".
 */
export async function writeAccount(file: string, size: BulkSize): Promise<void> {
  await pipeline(Readable.from(inChunks(lines(size))), createWriteStream(file));
}

/** The expected digest of each collection. */
export function digestsOf(size: BulkSize): Readonly<Record<"contacts" | "sessions" | "notes", Digest>> {
  const digests = { contacts: emptyDigest(), sessions: emptyDigest(), notes: emptyDigest() };
  for (let at = 0; at < size.contacts; at++) addTo(digests.contacts, `c${at}`, contactName(at));
  for (let at = 0; at < size.sessions; at++)
    addTo(digests.sessions, `s${at}`, sessionTitle(at), contactName(at % size.contacts));
  for (let at = 0; at < size.notes; at++) addTo(digests.notes, noteText(at), noteTime(at), ownerName(at, size));
  return digests;
}

export function emptyDigest(): Digest {
  return { count: 0, sum: 0 };
}

/** Adds a record to a digest. */
export function addTo(digest: Digest, ...parts: readonly (string | null)[]): void {
  digest.count++;
  digest.sum = (digest.sum + createHash("sha1").update(parts.join("\u0000")).digest().readUIntBE(0, 5)) % 2 ** 48;
}

function* lines(size: BulkSize): Iterable<string> {
  for (let at = 0; at < size.contacts; at++)
    yield JSON.stringify({
      contact: {
        external_id: `c${at}`,
        full_name: contactName(at),
        email: `c${at}@example.com`,
        phone: `+46 70 ${1_000_000 + at}`,
      },
    });
  for (let at = 0; at < size.sessions; at++) {
    const session_date = new Date(start + at * 15 * minute).toISOString();
    yield JSON.stringify({
      session: {
        external_id: `s${at}`,
        contact_external_id: `c${at % size.contacts}`,
        title: sessionTitle(at),
        session_date,
        recording_status: "completed",
      },
    });
    if (at % 1_000 === 0)
      yield JSON.stringify({
        transcript: { session_external_id: `s${at}`, transcript: `Transcript ${at}. `.repeat(200) },
      });
  }
  for (let at = 0; at < size.notes; at++) {
    const note = { content: noteText(at), created_at: noteTime(at) };
    // The owners are shuffled, as in notes written over years.
    if (isOfContact(at))
      yield JSON.stringify({
        contact_note: { contact_external_id: `c${owner(at, size.contacts)}`, source: "import", ...note },
      });
    else
      yield JSON.stringify({
        session_note: {
          session_external_id: `s${owner(at, size.sessions)}`,
          type: "SESSION_NOTE_TYPE_USER_MANUAL",
          position: at % 7,
          ...note,
        },
      });
  }
}

function* inChunks(all: Iterable<string>): Iterable<string> {
  let chunk: string[] = [];
  for (const line of all) {
    if (chunk.push(line) < 1_000) continue;
    yield `${chunk.join("\n")}\n`;
    chunk = [];
  }
  yield chunk.length === 0 ? "" : `${chunk.join("\n")}\n`;
}

function contactName(at: number): string {
  return `${word(at * 3)} ${word(at * 7 + 1)} Ann${at}`;
}

function sessionTitle(at: number): string {
  return `${word(at * 5 + 2)} ${word(at)} meeting ${at}`;
}

/** 100 to 340 characters. The words have a skewed distribution, as in a natural language. */
function noteText(at: number): string {
  const words = [at % 10 === 0 ? "every tenth" : "every other"];
  const random = mulberry32(at);
  for (let length = 11, goal = 100 + random() * 240; length < goal; ) {
    const next = word(Math.floor(random() ** 3 * 20_000));
    words.push(next);
    length += next.length + 1;
  }
  return words.join(" ");
}

function noteTime(at: number): string {
  return new Date(start + at * minute).toISOString();
}

function isOfContact(at: number): boolean {
  return at % 10 < 7;
}

function owner(at: number, of: number): number {
  return Math.floor(mulberry32(at ^ 0x5bd1e995)() * of);
}

function ownerName(at: number, size: BulkSize): string {
  return isOfContact(at) ? contactName(owner(at, size.contacts)) : sessionTitle(owner(at, size.sessions));
}

function word(at: number): string {
  const random = mulberry32(at * 2_654_435_761);
  const count = 2 + Math.floor(random() * 3);
  return Array.from({ length: count }, () => syllables[Math.floor(random() * syllables.length)]).join("");
}
