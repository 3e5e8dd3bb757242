// Invariants of a token bucket, checked from the times at which requests were sent and completed.

/** A request as its caller saw it: the bucket decided at some instant between the two. */
export interface Seen {
  /** Milliseconds on the caller's clock. */
  readonly sentAt: number;
  readonly completedAt: number;
  readonly passed: boolean;
}

/** The bucket that was promised. */
export interface Promised {
  readonly perSecond: number;
  readonly burst: number;
}

/** Clocks tick in milliseconds, and the bucket's is another's. */
const slackTokens = 1;

/**
 * How many requests more than promised passed in the worst span of time, 0 where the bucket was kept: in any span no
 * more pass than the burst and what refills meanwhile. Only requests count that lie in the span for certain.
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
 * How many requests were rejected although there was a token for certain. A bucket is empty only after a span, begun
 * full, in which as many passed as the burst and what refilled; whatever may lie in it counts.
 */
export function rejectedInVain(seen: readonly Seen[], { perSecond, burst }: Promised): number {
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
