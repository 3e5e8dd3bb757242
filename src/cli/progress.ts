// Shows the progress of a long transfer: a bar on a terminal, otherwise a line every few seconds.
import type { SingleBar } from "cli-progress";
import type { Output } from "./output.ts";
import { count, counted } from "./output.ts";

/** The progress of a transfer. */
export interface State {
  readonly records: number;
  /** Records per second. */
  readonly rate: number;
  readonly rejected?: number;
  /** The number of bytes of the file that are processed. */
  readonly bytes: number;
  /** The current step, if it is not the transfer of records. */
  readonly doing?: string;
}

/** A display of progress. */
export interface Progress {
  show(state: State): void;
  /** Writes a line of text that stays. */
  note(line: string): void;
  end(): void;
}

/** The interval between lines of progress that stay, as in a log. */
export const lineEveryMs = 5_000;

/** Creates a display on standard error, or none with `--json`. `size` is the size of the file in bytes, if known. */
export async function createProgress(output: Output, verb: string, size: number | undefined): Promise<Progress> {
  if (output.json) return { show: () => undefined, note: () => undefined, end: () => undefined };
  if (!output.watched || size === undefined) return createLines(output, verb, size);
  const { default: cliProgress } = await import("cli-progress");
  const bar = new cliProgress.SingleBar({
    format: `${verb} [{bar}] {percentage}% {records} records, {rate}/s{rejected}{left}{doing}`,
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stderr,
  });
  return createBar(bar, size, output);
}

/** Shorter transfers show no bar, because it would only flicker. */
const barAfterMs = 1_000;

function createBar(bar: SingleBar, size: number, output: Output): Progress {
  const begunAt = performance.now();
  let running = false;
  let last: State | undefined;
  let from: { readonly at: number; readonly bytes: number } | undefined;
  const payload = ({ records, rate, rejected = 0, bytes, doing }: State) => ({
    records: count(records),
    rate: count(Math.round(rate)),
    rejected: rejected === 0 ? "" : `, ${count(rejected)} rejected`,
    left: leftOf(bytes),
    doing: doing === undefined ? "" : `, ${doing}`,
  });
  /** Estimates the remaining time from the bytes per second of this run. */
  function leftOf(bytes: number): string {
    const done = bytes - (from?.bytes ?? bytes);
    const seconds = done === 0 ? 0 : ((size - bytes) / done) * ((performance.now() - (from?.at ?? 0)) / 1_000);
    return seconds === 0 ? "" : `, ${duration(seconds)} left`;
  }
  function show(state: State): void {
    last = state;
    if (state.bytes > 0) from ??= { at: performance.now(), bytes: state.bytes };
    if (running) return bar.update(state.bytes, payload(state));
    if (performance.now() - begunAt < barAfterMs) return undefined;
    bar.start(size, state.bytes, payload(state));
    running = true;
  }
  function end(): void {
    if (running) bar.stop();
    running = false;
  }
  return {
    show,
    note(line) {
      end();
      output.note(line);
      if (last !== undefined) show(last);
    },
    end,
  };
}

function createLines(output: Output, verb: string, size: number | undefined): Progress {
  let shownAt = performance.now();
  return {
    show({ records, rate, rejected = 0, bytes, doing }) {
      if (performance.now() - shownAt < lineEveryMs) return;
      shownAt = performance.now();
      const share = size === undefined || size === 0 ? "" : ` (${Math.floor((bytes / size) * 100)}%)`;
      const wrong = rejected === 0 ? "" : `, ${count(rejected)} rejected`;
      output.note(
        `${verb}: ${counted(records, "record")}${share}, ${count(Math.round(rate))}/s${wrong}${doing === undefined ? "" : `, ${doing}`}`,
      );
    },
    note: (line) => output.note(line),
    end: () => undefined,
  };
}

function duration(exact: number): string {
  const seconds = Math.ceil(exact);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
