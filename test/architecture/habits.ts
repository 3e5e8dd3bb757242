// Habits of a file: its first sentence, its length, its comments, and the names of its folders.
import type { Source } from "./sources.ts";

/** The files of more than `most` lines; the end of the last line begins no other. */
export function longFiles(files: readonly Source[], most: number): string[] {
  const linesOf = (text: string): number => text.replace(/\n$/, "").split("\n").length;
  return files.filter(({ text }) => linesOf(text) > most).map(({ path, text }) => `${path} (${linesOf(text)} lines)`);
}

/** The files that do not open with a comment of one sentence; the line that names the interpreter comes before it. */
export function withoutPurpose(files: readonly Source[]): string[] {
  const opening = /^(?:#!.*\n)?\/\/ \S(?:.*[^.:\n]\n\/\/)*.*[.:]\n/;
  return files.filter(({ text }) => !opening.test(text)).map(({ path }) => path);
}

/** Lines of comments that are too long: the formatter breaks code, and leaves comments as they are. */
export function longComments(files: readonly Source[]): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => line.length > 120 && /^\s*(?:\/\/|\/\*\*|\* (?!\*\*))/.test(line))
      .map((line) => `${path}: ${line}`),
  );
}

/** Files whose folder or name does not describe their content. */
export function namedForNothing(files: readonly Source[]): string[] {
  return files
    .filter(({ path }) => /(?:^|\/)(?:utils?|common|helpers?|lib)(?:\/|\.[cm]?[jt]sx?$)/.test(path))
    .map(({ path }) => path);
}
