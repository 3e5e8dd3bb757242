// A step of `npm run check`: no regular expression needs more than linear time, whatever text it is given.
import { slownessOf } from "./backtracking.ts";
import { expressionsOf } from "./expressions.ts";
import { withTrees } from "./syntax-trees.ts";

/** The code that applies expressions to text from outside. */
const projects = ["tsconfig.json", "tsconfig.page.json"];
const folders = ["src/", "gateway/", "client/src/"];

/** Files that build expressions at run time, each with the reason why they are linear. */
const builtElsewhere: ReadonlyMap<string, string> = new Map([
  ["src/search/fold.ts", "one character class, of the keys of a table in the file"],
  [
    "src/search/words.ts",
    "runs of one character class, and one character at the beginning, of a list of scripts in the file",
  ],
  [
    "src/search/calling-codes.ts",
    "the leading digits of countries' numbers in the library's metadata, without repetition",
  ],
  ["src/accounts/places.ts", "an account's id in hexadecimal digits, between an anchor and a colon"],
  ["src/guards/validate.ts", "the patterns of the protos, which are not tried on text of more than 1,024 characters"],
]);

/** Whether all are linear; prints those that are not. */
export function isLinear(root: string, reasons = builtElsewhere): boolean {
  const { known, built } = withTrees(root, projects, folders, expressionsOf);
  const checked = new Map<string, string | undefined>();
  let linear = true;
  for (const { path, line, source, flags } of known) {
    const literal = `/${source}/${flags}`;
    if (!checked.has(literal)) checked.set(literal, slownessOf({ source, flags }));
    const slowness = checked.get(literal);
    if (slowness !== undefined) report(`${path}:${line}: ${literal} is not linear: ${slowness}`);
  }
  for (const { path, line, code } of built) {
    if (!reasons.has(path))
      report(
        `${path}:${line}: the text of ${code} is not in the code: build it from constants, or say in scripts/linear.ts why it is linear`,
      );
  }
  const stale = [...reasons.keys()].filter((path) => !built.some((one) => one.path === path));
  for (const path of stale) report(`${path} builds no expression any more: remove it from scripts/linear.ts`);
  return linear;

  function report(problem: string): void {
    console.error(problem);
    linear = false;
  }
}
