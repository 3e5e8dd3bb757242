// How much the tests try: `npm test` is the short form, and `npm run test:long` tries everything.

/** Whether everything is tried. */
export const isLong = process.env["TESTS"] === "long";

/** Returns the number for the form of this run, such as of repetitions or of random cases. */
export function inForm(short: number, long: number): number {
  return isLong ? long : short;
}

/** Returns every case in the long form, and `count` in the short one: evenly spread, and always the same for a turn. */
export function share<T>(all: readonly T[], count: number, turn = 0): readonly T[] {
  if (isLong || count >= all.length) return all;
  const chosen = Array.from({ length: count }, (_, at) => (turn + Math.floor((at * all.length) / count)) % all.length);
  return all.filter((_, at) => chosen.includes(at));
}
