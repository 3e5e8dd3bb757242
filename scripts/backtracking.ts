// Tells regular expressions that need more than linear time for some text: two analysers, and each sees what the other does not.
import { checkSync } from "recheck";
import { analyse } from "scslre";

/** An expression as `new RegExp` takes it. */
export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** The analyser's build without programs of its own (Java, a native binary): it runs, and judges alike, wherever Node does. */
const backend = "pure";
/** What cannot be told in this time counts as slow. */
const limitMs = 120_000;

/**
 * Why an expression is not linear, or undefined where it is proven to be. Counted is the search through the whole text, so
 * that `/x*$/`, which begins again at every x, is as slow as `/^(?:x*)*$/`.
 */
export function slownessOf(pattern: Pattern): string | undefined {
  return repeated(pattern) ?? attacked(pattern);
}

/** Fast, and of the structure alone. */
function repeated({ source, flags }: Pattern): string | undefined {
  const { reports } = analyse({ source, flags }, { reportTypes: { Move: true, Self: true, Trade: true } });
  const [first] = reports;
  if (first === undefined) return undefined;
  return `${first.exponential ? "exponential" : "quadratic"} in text of /${first.character.literal.source}/`;
}

/** By automata, which prove it. They know neither assertions around a place nor the flag v: there the structure decides. */
function attacked({ source, flags }: Pattern): string | undefined {
  if (flags.includes("v")) return undefined;
  process.env["RECHECK_BACKEND"] = backend;
  const found = checkSync(source, flags, { checker: "automaton", timeout: limitMs });
  if (found.status === "safe" || (found.status === "unknown" && found.error.kind === "unsupported")) return undefined;
  return found.status === "unknown" ? `not proven to be linear (${found.error.kind})` : `${found.complexity.summary} for ${found.attack.pattern}`;
}
