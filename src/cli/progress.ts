// Shows the progress of a long transfer: a line that is redrawn on a terminal, otherwise a new line every few seconds.
import { clearLine, cursorTo } from "node:readline";
import type { Output } from "./output.ts";
import { count, counted } from "./output.ts";

/** The progress of a transfer. */
export interface State {
  readonly records: number;
  /** Records per second. By default, the average since the display was created. */
  readonly rate?: number;
  readonly rejected?: number;
  /** The number of bytes of the file that are processed. */
  readonly bytes?: number;
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
const redrawEveryMs = 200;

/** Creates a display on standard error, or none with `--json`. `size` is the size of the file in bytes, if known. */
export function createProgress(output: Output, verb: string, size?: number): Progress {
  const everyMs = output.watched ? redrawEveryMs : lineEveryMs;
  const begunAt = performance.now();
  let shownAt = begunAt;
  let isDrawn = false;
  let from: { readonly at: number; readonly bytes: number } | undefined;

  /**
   * Describes the part of the file that is done, and estimates the remaining time from the bytes per second. Some formats
   * are read to the end before their first record is sent, so the end says nothing.
   */
  function partOf(bytes: number): string {
    if (size === undefined || bytes >= size) return "";
    const share = ` (${Math.floor((bytes / size) * 100)}%)`;
    const done = bytes - (from?.bytes ?? bytes);
    const seconds = done === 0 ? 0 : ((size - bytes) / done) * secondsSince(from?.at ?? 0);
    return seconds === 0 ? share : `${share}, ${duration(seconds)} left`;
  }

  function textOf({ records, rate = records / secondsSince(begunAt), rejected = 0, bytes = 0, doing }: State): string {
    const wrong = rejected === 0 ? "" : `, ${count(rejected)} rejected`;
    const step = doing === undefined ? "" : `, ${doing}`;
    return `${verb}: ${counted(records, "record")}${partOf(bytes)}, ${count(Math.round(rate))}/s${wrong}${step}`;
  }

  function erase(): void {
    if (!isDrawn) return;
    cursorTo(process.stderr, 0);
    clearLine(process.stderr, 0);
    isDrawn = false;
  }

  return {
    show(state) {
      const { bytes = 0 } = state;
      if (bytes > 0) from ??= { at: performance.now(), bytes };
      if (output.json || performance.now() - shownAt < everyMs) return;
      shownAt = performance.now();
      if (!output.watched) return output.note(textOf(state));
      erase();
      // A longer line would wrap, also with the ^C that a terminal adds, and only its last row could be erased.
      process.stderr.write(textOf(state).slice(0, (process.stderr.columns || 80) - 3));
      isDrawn = true;
    },
    note(line) {
      erase();
      output.note(line);
    },
    end: erase,
  };
}

function secondsSince(at: number): number {
  return (performance.now() - at) / 1_000;
}

function duration(exact: number): string {
  const seconds = Math.ceil(exact);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
