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
  readonly weight: number;
  /** The number of bytes read from the file up to this batch. */
  readonly read: number;
}

const maxRecords = 500;
const maxWeight = 1_000_000;
/** How long a record waits for others, because standard input may pause after any record. */
const maxWaitMs = 1_000;
const widest = { records: 20_000, weight: 16_000_000 };

/** The callbacks for entries that are read but not sent. */
export interface Reading {
  /** Called for each entry that is not a valid record. */
  onUnreadable(entry: Entry, problem: string): void;
  /** Called for each entry that is read, before the others. */
  onEntry(entry: Entry): void;
  /** Called for each record that an earlier run has settled. May throw to end the import. */
  onSkipped(position: number, origin: Origin): void;
}

/** The records that were read but are not settled yet. */
export type Window = ReturnType<typeof createWindow>;

/** Creates a window on the entries. `read` returns the number of bytes read from the file. */
export function createWindow(
  entries: AsyncIterable<Entry>,
  keepInputs: boolean,
  read: () => number,
  { onUnreadable, onEntry, onSkipped }: Reading,
) {
  const records = readRecords(entries, onEntry, onUnreadable);
  /** The number of records read. */
  let count = 0;
  /** The record that is being read. A batch may have been sent without waiting for it. */
  let next: Promise<IteratorResult<Found, void>> | undefined;
  let batches: Batch[] = [];
  /** The index of the next batch to send. */
  let unsent = 0;
  let settledBytes = 0;
  // An interrupted stream may still wait for a line when the next stream begins.
  const inOrder = oneAtATime();
  /** The batch that is being read. A failure is kept, so that every later stream fails too. */
  let reading: Promise<void> | undefined;

  /** Returns the next record; undefined at the end, or if `late` resolves first. A later call then returns the record. */
  async function takeRecord(late?: Promise<undefined>): Promise<Found | undefined> {
    next ??= records.next();
    const found = await (late === undefined ? next : Promise.race([next, late]));
    if (found === undefined) return undefined;
    next = undefined;
    if (found.done === true) return undefined;
    count++;
    return found.value;
  }

  const originIn = ({ entry: { line, input } }: Found): Origin => ({ line, input: keepInputs ? input : undefined });

  async function readBatch(): Promise<void> {
    const batch = { position: count, records: [] as ImportedRecord[], origins: [] as Origin[], weight: 0 };
    let late: Promise<undefined> | undefined;
    while (batch.records.length < maxRecords && batch.weight < maxWeight) {
      const found = await takeRecord(late);
      if (found === undefined) break;
      batch.records.push(found.record);
      batch.origins.push(originIn(found));
      batch.weight += Buffer.byteLength(found.entry.input);
      late ??= sleep(maxWaitMs, undefined, { ref: false });
    }
    reading = undefined;
    if (batch.records.length > 0) batches.push({ ...batch, read: read() });
  }

  async function skipTo(position: number): Promise<boolean> {
    while (count < position) {
      const found = await takeRecord();
      if (found === undefined) return false;
      settledBytes = read();
      onSkipped(count - 1, originIn(found));
    }
    return true;
  }

  return {
    /** Returns whether nothing more may be read until records are settled. */
    full: (): boolean => unsent === batches.length && areWidest(batches),
    /** Returns whether sent records are not settled yet. */
    hasUnsettled: (): boolean => unsent > 0,
    /** Waits until a batch is available, or the file has ended. */
    async fill(): Promise<void> {
      if (unsent < batches.length) return;
      reading ??= inOrder(readBatch);
      await reading;
    },
    /** Returns the next batch to send, new or repeated; undefined at the end of the file. */
    take: (): Batch | undefined => (unsent < batches.length ? batches[unsent++] : undefined),
    /**
     * Restarts at the first record that is not settled, for a new stream. Skips the records before `position`, which an
     * earlier run settled. Returns false if the file ends before. Does not wait for the file if it has nothing to skip.
     */
    async begin(position: number): Promise<boolean> {
      unsent = 0;
      return position <= count || inOrder(() => skipTo(position));
    },
    /** Releases the batches that end before `position`. */
    settle(position: number): void {
      const left = batches.filter((batch) => batch.position + batch.records.length > position);
      const gone = batches.length - left.length;
      if (gone === 0) return;
      settledBytes = batches[gone - 1]?.read ?? settledBytes;
      unsent = Math.max(0, unsent - gone);
      batches = left;
    },
    /** Returns the origin of a record: "ahead" if it is not read yet, undefined once it is released. */
    originOf(position: number): Origin | "ahead" | undefined {
      if (position >= count) return "ahead";
      const batch = batches.find((one) => position >= one.position && position < one.position + one.records.length);
      return batch?.origins[position - batch.position];
    },
    /** Returns the number of settled bytes of the file. */
    settledBytes: (): number => settledBytes,
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

interface Found {
  readonly entry: Entry;
  readonly record: ImportedRecord;
}

/** Yields the entries that are records. */
async function* readRecords(
  entries: AsyncIterable<Entry>,
  onEntry: Reading["onEntry"],
  onUnreadable: Reading["onUnreadable"],
): AsyncGenerator<Found, void> {
  for await (const entry of entries) {
    const { content } = entry;
    onEntry(entry);
    if ("record" in content) yield { entry, record: content.record };
    else if ("problem" in content) onUnreadable(entry, content.problem);
  }
}
