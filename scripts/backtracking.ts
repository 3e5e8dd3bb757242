// Finds regular expressions that need more than linear time, with two complementary analyzers.
import { checkSync } from "recheck";
import { analyse } from "scslre";

/** The arguments of `new RegExp`. */
export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** The analyzer's pure JavaScript build, which gives the same result wherever Node runs. */
const backend = "pure";
/** An expression that takes longer to analyze counts as slow. */
const limitMs = 120_000;

/**
 * Why an expression is not linear; undefined if it is proven to be linear. The search through the whole text counts:
 * `/x*$/` begins again at every x, and so is as slow as `/^(?:x*)*$/`.
 */
export function slownessOf(pattern: Pattern): string | undefined {
  return repeated(pattern) ?? attacked(pattern);
}

/** A fast structural check. */
function repeated({ source, flags }: Pattern): string | undefined {
  const { reports } = analyse({ source, flags }, { reportTypes: { Move: true, Self: true, Trade: true } });
  const [first] = reports;
  if (first === undefined) return undefined;
  return `${first.exponential ? "exponential" : "quadratic"} in text of /${first.character.literal.source}/`;
}

/**
 * A proof with automata, which support neither lookaround nor the flag v; for those, only the structural check applies.
 */
function attacked({ source, flags }: Pattern): string | undefined {
  if (flags.includes("v")) return undefined;
  process.env["RECHECK_BACKEND"] = backend;
  const found = checkSync(source, flags, { checker: "automaton", timeout: limitMs });
  if (found.status === "safe" || (found.status === "unknown" && found.error.kind === "unsupported")) return undefined;
  return found.status === "unknown"
    ? `not proven to be linear (${found.error.kind})`
    : `${found.complexity.summary} for ${found.attack.pattern}`;
}
