// Window of an import: the records that were read but are not settled yet, limited in size and ready to be sent again.
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, ImportedRecord } from "../formats/entry.ts";

/** The line where a record begins, and its text if that is kept. */
export interface Origin {
  readonly line: number;
  readonly input: string | undefined;
}

/** The records of one message. */
export interface Batch {
  /** The position of the first record among the readable records of the import, counted from 0. */
  readonly position: number;
  readonly records: ImportedRecord[];
  readonly origins: Origin[];
  /** The approximate length of the records, in characters. */
  weight: number;
  /** The number of bytes read from the file up to this batch. */
  readonly read: number;
}

/** An entry that is not a valid record. */
export interface Unreadable {
  readonly line: number;
  readonly input: string;
  readonly problem: string;
}

/** The records that were read but are not settled yet. */
export interface Window {
  /** Returns whether nothing more may be read until records are settled. */
  full(): boolean;
  /** Returns whether sent records are not settled yet. */
  hasUnsettled(): boolean;
  /** Waits until a batch is available, or the file has ended. */
  fill(): Promise<void>;
  /** Returns the next batch to send, new or repeated; undefined at the end of the file. */
  take(): Batch | undefined;
  /**
   * Restarts at the first record that is not settled, for a new stream. Skips the records before `position`, which an
   * earlier run settled. Returns false if the file ends before. Does not wait for the file if it has nothing to skip.
   */
  begin(position: number): Promise<boolean>;
  /** Releases the batches that end before `position`. */
  settle(position: number): void;
  /** Returns the origin of a record: "ahead" if it is not read yet, undefined once it is released. */
  originOf(position: number): Origin | "ahead" | undefined;
  /** Returns the number of settled bytes of the file. */
  settledBytes(): number;
}

const maxRecords = 500;
const maxWeight = 1_000_000;
/** How long a record waits for others, because standard input may pause after any record. */
const maxWaitMs = 1_000;
const widest = { records: 20_000, weight: 16_000_000 };

/** The callbacks for entries that are read but not sent. */
export interface Reading {
  /** Called for each entry that is not a valid record. */
  onUnreadable(entry: Unreadable): void;
  /** Called for each entry that is read, before the others. */
  onEntry(entry: Entry): void;
  /** Called for each record that an earlier run has settled. May throw to end the import. */
  onSkipped(position: number, origin: Origin): void;
}

/** Creates a window on the entries. `read` returns the number of bytes read from the file. */
export function createWindow(
  entries: AsyncIterable<Entry>,
  keepInputs: boolean,
  read: () => number,
  { onUnreadable, onEntry, onSkipped }: Reading,
): Window {
  const reader = createReader(entries, keepInputs, { onUnreadable, onEntry });
  let batches: Batch[] = [];
  /** The index of the next batch to send. */
  let unsent = 0;
  let settledBytes = 0;
  // An interrupted stream may still wait for a line when the next stream begins.
  const inOrder = oneAtATime();
  /** The batch that is being read. A failure is kept, so that every later stream fails too. */
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
      reading ??= inOrder(readNext);
      await reading;
    },
    hasUnsettled: () => unsent > 0,
    take: () => (unsent < batches.length ? batches[unsent++] : undefined),
    async begin(position) {
      unsent = 0;
      return position <= reader.count() || inOrder(() => reader.skipTo(position, skipped));
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

/** Returns a function that runs one task at a time, in order. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };
}

/** A reader of records, which passes other entries to `onUnreadable`. */
interface Reader {
  /** Returns the number of records read. */
  count(): number;
  /** Reads and discards the records before `position`. Returns false if the file ends before. */
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
  { onUnreadable, onEntry }: Omit<Reading, "onSkipped">,
): Reader {
  const iterator = entries[Symbol.asyncIterator]();
  let readRecords = 0;
  /** The record that is being read. A batch may have been sent without waiting for it. */
  let next: Promise<Found | undefined> | undefined;

  /** Returns the next entry that is a record; undefined at the end. */
  async function readRecord(): Promise<Found | undefined> {
    for (;;) {
      const found = await iterator.next();
      if (found.done === true) return undefined;
      const entry = found.value;
      const { line, input, content } = entry;
      onEntry(entry);
      if ("record" in content) return { entry, record: content.record };
      if ("problem" in content) onUnreadable({ line, input, problem: content.problem });
    }
  }

  /** Returns the next record, or "late" if `late` resolves first. The next call then returns the record. */
  async function take(late?: Promise<"late">): Promise<Found | "late" | undefined> {
    next ??= readRecord();
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
    while (batch.records.length < maxRecords && batch.weight < maxWeight) {
      const found = await take(late);
      if (found === undefined || found === "late") break;
      batch.records.push(found.record);
      batch.origins.push(originOf(found));
      batch.weight += Buffer.byteLength(found.entry.input);
      late ??= sleep(maxWaitMs, "late" as const, { ref: false });
    }
    return batch.records.length === 0 ? undefined : batch;
  }

  return {
    count: () => readRecords,
    async skipTo(position, onSkipped) {
      while (readRecords < position) {
        const found = await take();
        if (found === undefined || found === "late") return false;
        onSkipped(originOf(found));
      }
      return true;
    },
    readBatch,
  };
}
