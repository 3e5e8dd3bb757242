// Invariants of a token bucket, checked against when requests were sent and completed.

/** A request as its caller saw it. The bucket decided at some instant between the two times. */
export interface Seen {
  /** Milliseconds on the caller's clock. */
  readonly sentAt: number;
  readonly completedAt: number;
  readonly passed: boolean;
}

export interface Promised {
  readonly perSecond: number;
  readonly burst: number;
}

/** Tolerates the millisecond resolution and the difference between the clocks. */
const slackTokens = 1;

/**
 * How many requests too many passed in the worst span of time; 0 if the promise held. In any span, at most the burst
 * plus the refill may pass. Only requests that certainly lie in the span count.
 */
export function excess(seen: readonly Seen[], { perSecond, burst }: Promised): number {
  const passed = seen.filter((one) => one.passed).sort((a, b) => a.sentAt - b.sentAt);
  let worst = 0;
  for (const [from, first] of passed.entries()) {
    const ends = passed
      .slice(from)
      .map(({ completedAt }) => completedAt)
      .sort((a, b) => a - b);
    for (const [at, end] of ends.entries())
      worst = Math.max(worst, at + 1 - burst - ((end - first.sentAt) / 1_000) * perSecond - slackTokens);
  }
  return worst;
}

/**
 * How many requests were rejected although there certainly was a token. A bucket is only empty after a span, begun
 * full, in which the burst plus the refill passed. Every request that may lie in the span counts.
 */
export function wronglyRejected(seen: readonly Seen[], { perSecond, burst }: Promised): number {
  const passed = seen.filter((one) => one.passed).sort((a, b) => b.completedAt - a.completedAt);
  return seen.filter((one) => !one.passed && !explained(one)).length;

  function explained(rejected: Seen): boolean {
    let count = 0;
    for (const { sentAt, completedAt } of passed) {
      if (sentAt > rejected.completedAt) continue;
      count += 1;
      const spanMs = Math.max(0, rejected.sentAt - completedAt);
      if (count + slackTokens > burst - 1 + (spanMs / 1_000) * perSecond) return true;
    }
    return false;
  }
}
