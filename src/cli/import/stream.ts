// Sends an import over the stream, and again after the connection was cut, until everything is settled.
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ImportRequestSchema, ImportResponse } from "../../gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../gen/records/ingest/v1/ingest_pb.ts";
import { CommandError, exitCodes } from "../exit.ts";
import type { Link } from "../link.ts";
import { isPassing } from "../link.ts";
import type { Window } from "./window.ts";

type Request = MessageInitShape<typeof ImportRequestSchema>;

/** An import to carry out. */
export interface Transfer {
  readonly accountId: string;
  readonly importId: string;
  /** Whether contacts that are known by their email alone are updated. */
  readonly updateByEmail: boolean;
  readonly window: Window;
  /** Called with every response before what it settles is let go. May throw, to end the import. */
  readonly onResponse: (response: ImportResponse) => void;
  /** The position before which every rejection that was received is named: the service does not repeat them. */
  readonly acknowledged: () => number;
  /** Called for every stream that was cut, and with the place from which the next one continues. */
  readonly onBreak: () => void;
  readonly onResume: (position: number, isAtEnd: boolean) => void;
  /** Ends the sending: what was sent is settled, and the rest stays for another run. */
  readonly stop: AbortSignal;
}

/**
 * How often an empty message is sent while nothing more may be sent: a service reports its progress when it gets a
 * message.
 */
const pollEveryMs = 250;
/** For so long without any progress the service is tried again. */
const patienceMs = 5 * 60_000;
/** Not at once: what the service still writes of the stream that was cut is to be settled by then. */
const backoffMs = { first: 1_000, most: 5_000 };
/** For so long what was sent may take to be settled after Ctrl-C. */
const settleMs = 10_000;

/**
 * Carries the import to its end; false where it was stopped before. Fails where the service rejects it or stays away.
 */
export async function transfer(link: Link, work: Transfer): Promise<boolean> {
  let failingSince: number | undefined;
  let furthest = -1;
  for (let failures = 0; ; failures++) {
    if (work.stop.aborted) return false;
    try {
      return await attempt(link, work, (response) => {
        const position = Number(response.position);
        if (response.indexing || (position > furthest && furthest !== -1)) {
          failingSince = undefined;
          failures = 0;
        }
        furthest = Math.max(furthest, position);
      });
    } catch (error) {
      if (work.stop.aborted && !(error instanceof CommandError)) return false;
      // What is slow to come from standard input is no failure of the service.
      failingSince ??= performance.now();
      if (!isPassing(error) || performance.now() - failingSince > patienceMs) throw error;
      work.onBreak();
      await sleep(Math.min(backoffMs.first * 2 ** failures, backoffMs.most), undefined, { signal: work.stop }).catch(
        () => undefined,
      );
    }
  }
}

/** One stream. Rejects with what cut it off. */
async function attempt(link: Link, work: Transfer, onProgress: (response: ImportResponse) => void): Promise<boolean> {
  const { accountId, importId, updateByEmail, window, onResponse, stop } = work;
  const call = new AbortController();
  /** What went wrong on our side while sending; the call itself only says that it was cancelled. */
  let ours: { readonly error: unknown } | undefined;
  const begun = deferred<number>();
  /** No more is to be sent: the call is over, or was stopped. */
  const { promise: ended, resolve: end } = deferred<undefined>();
  const isEnded = (): boolean => stop.aborted || call.signal.aborted;
  let complete = false;
  let settledTo = 0;

  async function* requests(): AsyncIterable<Request> {
    yield { accountId, importId, updateByEmail, ...acknowledgement(work) };
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
      // A record that was released or skipped can no longer be named.
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

/** The messages with records, from a position on; returns whether all was sent. */
async function* messages(
  work: Transfer,
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
    // While standard input pauses, what was sent is settled all the same.
    while ((await Promise.race([filled, ended, sleep(pollEveryMs, false, { ref: false })])) === false)
      if (window.isOwed()) yield acknowledgement(work);
    if (isEnded()) return false;
    const batch = window.take();
    if (isFirst) onResume(position, batch === undefined);
    isFirst = false;
    if (batch === undefined) return true;
    yield { position: BigInt(batch.position), records: batch.records, ...acknowledgement(work) };
  }
  return false;
}

function acknowledgement({ acknowledged }: Transfer): Pick<Request, "acknowledgedPosition"> {
  return { acknowledgedPosition: BigInt(acknowledged()) };
}

function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve: (value) => resolve(value) };
}
