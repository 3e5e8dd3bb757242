// A step of `npm run check`: no regular expression needs more than linear time on any input.
import { slownessOf } from "./backtracking.ts";
import { expressionsOf } from "./expressions.ts";
import { withTrees } from "./syntax-trees.ts";

/** The code that applies expressions to untrusted text. */
const projects = ["tsconfig.json", "tsconfig.page.json"];
const folders = ["src/", "gateway/", "client/src/"];

/** Files that build expressions at run time, and why each is linear. */
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
  ["src/guards/validate.ts", "the protos' patterns, which are never applied to text of more than 1,024 characters"],
]);

/** Whether all expressions are linear; reports those that are not. */
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
  for (const path of stale) report(`${path} no longer builds an expression: remove it from scripts/linear.ts`);
  return linear;

  function report(problem: string): void {
    console.error(problem);
    linear = false;
  }
}
