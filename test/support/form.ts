// The form of a test run: `npm test` is the short form, and `npm run test:long` tries everything.

export const isLong = process.env["TESTS"] === "long";

/** Returns the number for this form, for example of repetitions or random cases. */
export function inForm(short: number, long: number): number {
  return isLong ? long : short;
}

/** Returns all cases in the long form, and `count` evenly spread ones in the short form, always the same for a turn. */
export function share<T>(all: readonly T[], count: number, turn = 0): readonly T[] {
  if (isLong || count >= all.length) return all;
  const chosen = Array.from({ length: count }, (_, at) => (turn + Math.floor((at * all.length) / count)) % all.length);
  return all.filter((_, at) => chosen.includes(at));
}
