// The stretch of an import that was read and is not settled yet: it is bounded, and can be sent once more.
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, ImportedRecord } from "../formats/entry.ts";

/** Where a record begins in the file, and its own text, if that is kept. */
export interface Origin {
  readonly line: number;
  readonly input: string | undefined;
}

/** A few records that go in one message. */
export interface Batch {
  /** The place of the first among the readable records of the import, counted from 0. */
  readonly position: number;
  readonly records: ImportedRecord[];
  readonly origins: Origin[];
  /** About how many characters they have. */
  weight: number;
  /** How much of the file was read by then, in bytes. */
  readonly read: number;
}

/** An entry that cannot be read as a record. */
export interface Unreadable {
  readonly line: number;
  readonly input: string;
  readonly problem: string;
}

/** What is on its way. */
export interface Window {
  /** Whether no more may be read before something is settled. */
  full(): boolean;
  /** Whether something was sent that is not settled. */
  isOwed(): boolean;
  /** Waits until there is something to take, or the file is at its end. */
  fill(): Promise<void>;
  /** The next message to send, sent before or not; undefined at the end of the file. */
  take(): Batch | undefined;
  /**
   * Goes to the first record that is not settled, for a new stream. Reads past what an earlier run settled: all before
   * `position`; false where the file ends there. Does not wait for the file where nothing is to be read past.
   */
  begin(position: number): Promise<boolean>;
  /** Lets go of everything before `position`; the bytes that are behind us. */
  settle(position: number): void;
  /** Where the record at this place is in the file: "ahead" if it is not read yet, undefined once it is let go. */
  originOf(position: number): Origin | "ahead" | undefined;
  /** How much of the file is settled, in bytes. */
  settledBytes(): number;
}

const mostRecords = 500;
const mostWeight = 1_000_000;
/** For so long a record waits for others: standard input may pause at any record. */
const mostWaitMs = 1_000;
const widest = { records: 20_000, weight: 16_000_000 };

/** Receives what is read of the file and not sent. */
export interface Reading {
  /** Called for each entry that is no record, with whether the stretch was settled by an earlier run. */
  onUnreadable(entry: Unreadable, earlier: boolean): void;
  /** Called for each record that an earlier run has settled. May throw, to end the import. */
  onSkipped(position: number, origin: Origin): void;
}

/** A window on the entries. */
export function createWindow(
  entries: AsyncIterable<Entry>,
  keepInputs: boolean,
  read: () => number,
  { onUnreadable, onSkipped }: Reading,
): Window {
  const reader = createReader(entries, keepInputs, onUnreadable);
  let batches: Batch[] = [];
  /** Which of them goes next. */
  let unsent = 0;
  let settledBytes = 0;
  // A stream that was cut may still wait for a line when the next one begins.
  const inTurn = oneAtATime();
  /** The batch that is being read. It stays where reading failed: then every later stream fails too. */
  let reading: Promise<void> | undefined;

  async function readNext(): Promise<void> {
    const batch = await reader.readBatch();
    reading = undefined;
    if (batch === undefined) return;
    batches.push({ ...batch, read: read() });
  }

  function settle(position: number): void {
    const left = batches.filter((batch) => batch.position + batch.records.length > position);
    const gone = batches.length - left.length;
    if (gone === 0) return;
    settledBytes = batches[gone - 1]?.read ?? settledBytes;
    unsent = Math.max(0, unsent - gone);
    batches = left;
  }

  function skipped(origin: Origin): void {
    settledBytes = read();
    onSkipped(reader.count() - 1, origin);
  }

  return {
    settle,
    full: () => unsent === batches.length && areWidest(batches),
    fill: async () => {
      if (unsent < batches.length) return;
      reading ??= inTurn(readNext);
      await reading;
    },
    isOwed: () => unsent > 0,
    take: () => (unsent < batches.length ? batches[unsent++] : undefined),
    async begin(position) {
      unsent = 0;
      return position <= reader.count() || inTurn(() => reader.skipTo(position, skipped));
    },
    originOf(position) {
      if (position >= reader.count()) return "ahead";
      const batch = batches.find((one) => position >= one.position && position < one.position + one.records.length);
      return batch?.origins[position - batch.position];
    },
    settledBytes: () => settledBytes,
  };
}

function areWidest(batches: readonly Batch[]): boolean {
  const records = batches.reduce((sum, batch) => sum + batch.records.length, 0);
  const weight = batches.reduce((sum, batch) => sum + batch.weight, 0);
  return records >= widest.records || weight >= widest.weight;
}

/** Runs one work after the other. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };
}

/** What reads the entries, of which those that are no records go to `onUnreadable`. */
interface Reader {
  /** How many records were read. */
  count(): number;
  /** Reads the records before `position` and leaves them out; false where the file ends before. */
  skipTo(position: number, onSkipped: (origin: Origin) => void): Promise<boolean>;
  readBatch(): Promise<Omit<Batch, "read"> | undefined>;
}

interface Found {
  readonly entry: Entry;
  readonly record: ImportedRecord;
}

function createReader(
  entries: AsyncIterable<Entry>,
  keepInputs: boolean,
  onUnreadable: (entry: Unreadable, earlier: boolean) => void,
): Reader {
  const iterator = entries[Symbol.asyncIterator]();
  let readRecords = 0;
  /** The record that is being read: a batch may not have waited for it. */
  let next: Promise<Found | undefined> | undefined;

  /** The next entry that is a record; undefined at the end. */
  async function readRecord(earlier: boolean): Promise<Found | undefined> {
    for (;;) {
      const found = await iterator.next();
      if (found.done === true) return undefined;
      const entry = found.value;
      if ("record" in entry.content) return { entry, record: entry.content.record };
      onUnreadable({ line: entry.line, input: entry.input, problem: entry.content.problem }, earlier);
    }
  }

  /** The same, or "late" where `late` comes first: then the record is that of the next call. */
  async function take(earlier: boolean, late?: Promise<"late">): Promise<Found | "late" | undefined> {
    next ??= readRecord(earlier);
    const found = await (late === undefined ? next : Promise.race([next, late]));
    if (found === "late") return found;
    next = undefined;
    if (found !== undefined) readRecords++;
    return found;
  }

  const originOf = ({ entry: { line, input } }: Found): Origin => ({ line, input: keepInputs ? input : undefined });

  async function readBatch(): ReturnType<Reader["readBatch"]> {
    const batch: Omit<Batch, "read"> = { position: readRecords, records: [], origins: [], weight: 0 };
    let late: Promise<"late"> | undefined;
    while (batch.records.length < mostRecords && batch.weight < mostWeight) {
      const found = await take(false, late);
      if (found === undefined || found === "late") break;
      batch.records.push(found.record);
      batch.origins.push(originOf(found));
      batch.weight += found.entry.input.length;
      late ??= sleep(mostWaitMs, "late" as const, { ref: false });
    }
    return batch.records.length === 0 ? undefined : batch;
  }

  return {
    count: () => readRecords,
    async skipTo(position, onSkipped) {
      while (readRecords < position) {
        const found = await take(true);
        if (found === undefined || found === "late") return false;
        onSkipped(originOf(found));
      }
      return true;
    },
    readBatch,
  };
}
