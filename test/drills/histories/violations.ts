// The kinds of violations, and how many of each a report shows.

/** What a violation is called. */
export type ViolationKind =
  /** An acknowledged value is gone. */
  | "lost"
  /** A value was read that was never committed. */
  | "dirty"
  /** A read began after a newer value was acknowledged, and returned an older one. */
  | "stale"
  /** One client saw a value, and an older one after it. */
  | "non-monotonic"
  /** No order of the operations on a contact explains all of them. */
  | "not linearizable"
  /** A write that got 503 was carried out more than a second later. */
  | "late effect"
  /** One write made two records. */
  | "duplicate"
  | "served after rotation"
  | "served after revocation"
  | "served after sign-out"
  /** A switch was set and not in force. */
  | "switch not in force"
  /** A request was not served as it should be long after the last fault. */
  | "unavailable"
  /** An instance failed. */
  | "500";

/** One of them. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
  /** By how many milliseconds, where it is a matter of time. */
  readonly ms?: number;
}

/** The worst first. */
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

/** A line for each kind: how many there are, and the first of them. */
export function violationLines(violations: readonly Violation[]): string[] {
  return byKind(violations).map(
    ([kind, all]) => `${kind}${all.length > 1 ? ` (${all.length} in all)` : ""}: ${all[0]?.text}`,
  );
}

/** How many there are of each kind, and by how long at most. */
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
