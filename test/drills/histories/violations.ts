// The kinds of violations, and their summaries in a report.

export type ViolationKind =
  /** An acknowledged value is gone. */
  | "lost"
  /** A value was read that was never committed. */
  | "dirty"
  /** A read that began after a newer value was acknowledged returned an older one. */
  | "stale"
  /** One client saw a value and then an older one. */
  | "non-monotonic"
  /** No order of the operations on a contact explains all of them. */
  | "not linearizable"
  /** A write that got 503 was applied more than a second later. */
  | "late effect"
  /** One write created two records. */
  | "duplicate"
  | "served after rotation"
  | "served after revocation"
  | "served after sign-out"
  /** A switch was set but did not take effect. */
  | "switch not in force"
  /** A request failed long after the last fault. */
  | "unavailable"
  /** An instance returned 500. */
  | "500";

export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
  /** By how many milliseconds, if it is a matter of time. */
  readonly ms?: number;
}

/** Worst first. */
const kinds: readonly ViolationKind[] = [
  ...([
    "lost",
    "duplicate",
    "dirty",
    "served after revocation",
    "served after rotation",
    "served after sign-out",
  ] as const),
  ...([
    "stale",
    "non-monotonic",
    "not linearizable",
    "switch not in force",
    "late effect",
    "500",
    "unavailable",
  ] as const),
];

/** One line for each kind, with the number of violations and the first one. */
export function violationLines(violations: readonly Violation[]): string[] {
  return byKind(violations).map(
    ([kind, all]) => `${kind}${all.length > 1 ? ` (${all.length} in all)` : ""}: ${all[0]?.text}`,
  );
}

/** The number of violations of each kind, and the longest time. */
export function violationFigures(violations: readonly Violation[]): Record<string, number> {
  return Object.fromEntries(
    byKind(violations).flatMap(([kind, all]): [string, number][] => {
      const times = all.flatMap(({ ms }) => (ms === undefined ? [] : [ms]));
      return [
        [kind, all.length],
        ...(times.length > 0 ? [[`${kind}: longest, ms`, Math.round(Math.max(...times))] as [string, number]] : []),
      ];
    }),
  );
}

function byKind(violations: readonly Violation[]): [ViolationKind, Violation[]][] {
  return kinds
    .map((kind): [ViolationKind, Violation[]] => [kind, violations.filter((one) => one.kind === kind)])
    .filter(([, all]) => all.length > 0);
}
