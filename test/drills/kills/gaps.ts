// Measures the gaps between the acknowledgments of a stream, overall and during each kind of fault.
import type { Fault } from "./faults.ts";

/** A fault, from its start until everything was repaired, in milliseconds of `performance.now()`. */
export interface Done {
  readonly fault: Fault;
  readonly from: number;
  readonly to: number;
}

/** The longest gap overall, and for each fault its number and longest gap. `acknowledgedAt` is in ascending order. */
export function gapFigures(acknowledgedAt: readonly number[], done: readonly Done[]): Record<string, number> {
  const gaps = acknowledgedAt.slice(1).map((to, at) => ({ from: acknowledgedAt[at] ?? 0, to }));
  const longest = (among: typeof gaps): number =>
    Math.round(among.reduce((most, { from, to }) => Math.max(most, to - from), 0));
  const figures: Record<string, number> = { "longest gap, ms": longest(gaps) };
  for (const kind of new Set(done.map(({ fault }) => fault))) {
    const times = done.filter(({ fault }) => fault === kind);
    figures[`${kind}: count`] = times.length;
    figures[`${kind}: longest gap, ms`] = longest(
      gaps.filter((gap) => times.some(({ from, to }) => gap.to > from && gap.from < to)),
    );
  }
  return figures;
}
