// Sends an import as a stream, and resumes after an interruption until every record is settled.
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ImportRequestSchema, ImportResponse } from "../../gen/records/ingest/v1/import_pb.ts";
import { ImportRestart } from "../../gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../gen/records/ingest/v1/ingest_pb.ts";
import { CommandError, exitCodes } from "../exit.ts";
import type { Link } from "../link.ts";
import type { Transfer } from "../transfer.ts";
import type { Window } from "./window.ts";

type Request = MessageInitShape<typeof ImportRequestSchema>;

/** An import to carry out. */
export interface Sending {
  readonly accountId: string;
  readonly importId: string;
  /** Whether to update contacts that are identified only by their email. */
  readonly updateByEmail: boolean;
  /** Returns the fields of contacts that the source has. Called when the first records are read. */
  readonly contactFields: () => readonly string[] | undefined;
  /** Whether to begin again. */
  readonly restart: ImportRestart;
  readonly window: Window;
  /** Called with every response before the records that it settles are released. May throw to end the import. */
  readonly onResponse: (response: ImportResponse) => void;
  /** Returns the position before which every rejection is reported. The service does not repeat these rejections. */
  readonly acknowledged: () => number;
  /** Called with the position from which each stream continues. */
  readonly onResume: (position: number, isAtEnd: boolean) => void;
}

/**
 * The interval of empty messages while there is nothing to send. The service reports progress in response to messages.
 */
const pollEveryMs = 250;
/** How long an import without any progress is retried. */
const patienceMs = 5 * 60_000;
/** How long sent records may take to be settled after Ctrl-C. */
const settleMs = 10_000;

/**
 * Sends the import to its end. Returns false if Ctrl-C stopped it before: the records already sent are settled, and the
 * rest is left for another run. Fails if the service rejects it or stays unavailable.
 */
export async function sendRecords(link: Link, { stop, retry }: Transfer, work: Sending): Promise<boolean> {
  let furthest = -1;
  let { restart } = work;
  const sendOnce = (onProgress: () => void): Promise<boolean> =>
    attempt(link, { ...work, restart }, stop, (response) => {
      restart = ImportRestart.UNSPECIFIED;
      const position = Number(response.position);
      if (response.indexing || (position > furthest && furthest !== -1)) onProgress();
      furthest = Math.max(furthest, position);
    });
  return retry(sendOnce, { patienceMs }).catch((error: unknown) => {
    if (stop.aborted && !(error instanceof CommandError)) return false;
    throw error;
  });
}

/** Sends one stream. Rejects with the error that ended it. */
async function attempt(
  link: Link,
  work: Sending,
  stop: AbortSignal,
  onProgress: (response: ImportResponse) => void,
): Promise<boolean> {
  const { accountId, importId, updateByEmail, restart, window, onResponse } = work;
  const call = new AbortController();
  /** An error on the client's side while sending. The call itself only reports that it was cancelled. */
  let ours: { readonly error: unknown } | undefined;
  const begun = deferred<number>();
  /** Resolves when no more may be sent, because the call has ended or was stopped. */
  const { promise: ended, resolve: end } = deferred<undefined>();
  const isEnded = (): boolean => stop.aborted || call.signal.aborted;
  let complete = false;
  let settledTo = 0;

  async function* requests(): AsyncIterable<Request> {
    yield { accountId, importId, updateByEmail, restart, ...acknowledgement(work) };
    const position = await Promise.race([begun.promise, ended]);
    if (position === undefined) return;
    try {
      complete = yield* messages(work, position, ended, isEnded);
    } catch (error) {
      ours = { error };
      call.abort();
    }
  }

  const giveUpLater = (): void => {
    end(undefined);
    setTimeout(() => call.abort(), settleMs).unref();
  };
  stop.addEventListener("abort", giveUpLater, { once: true });
  try {
    for await (const response of link.client(IngestService).import(requests(), { signal: call.signal })) {
      onResponse(response);
      onProgress(response);
      const position = Number(response.position);
      // Receives all rejections first: the line of a released or skipped record is no longer known.
      if (response.moreRejections) continue;
      begun.resolve(position);
      if (position > settledTo) {
        settledTo = position;
        window.settle(position);
      }
    }
    if (ours !== undefined) throw ours.error;
    if (!complete && !stop.aborted)
      throw new ConnectError("the stream ended before everything was sent", Code.Unavailable);
    return complete;
  } catch (error) {
    throw ours?.error ?? error;
  } finally {
    stop.removeEventListener("abort", giveUpLater);
    call.abort();
    end(undefined);
  }
}

/** Yields the messages with records from a position on. Returns whether all records were sent. */
async function* messages(
  work: Sending,
  position: number,
  ended: Promise<undefined>,
  isEnded: () => boolean,
): AsyncGenerator<Request, boolean> {
  const { importId, window, onResume } = work;
  if ((await Promise.race([window.begin(position), ended])) === false) {
    throw new CommandError(
      exitCodes.failed,
      "another_file",
      `The import "${importId}" already has ${position} records, but this file has fewer. If it is another file, choose another name.`,
    );
  }
  for (let isFirst = true; !isEnded(); ) {
    if (window.full()) {
      await Promise.race([sleep(pollEveryMs), ended]);
      if (window.full()) yield acknowledgement(work);
      continue;
    }
    const filled = window.fill().then(() => true);
    // Lets sent records be settled while standard input pauses.
    while ((await Promise.race([filled, ended, sleep(pollEveryMs, false, { ref: false })])) === false)
      if (window.hasUnsettled()) yield acknowledgement(work);
    if (isEnded()) return false;
    const batch = window.take();
    if (isFirst) onResume(position, batch === undefined);
    if (batch === undefined) return true;
    const paths = isFirst ? work.contactFields() : undefined;
    isFirst = false;
    yield {
      position: BigInt(batch.position),
      records: batch.records,
      ...(paths === undefined ? {} : { contactFields: { paths: [...paths] } }),
      ...acknowledgement(work),
    };
  }
  return false;
}

function acknowledgement({ acknowledged }: Sending): Pick<Request, "acknowledgedPosition"> {
  return { acknowledgedPosition: BigInt(acknowledged()) };
}

function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve: (value) => resolve(value) };
}
