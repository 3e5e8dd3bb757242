// The W3C trace context of a caller: `traceparent`, read by the letter, so that nothing else gets into a log or a
// trace.

/** The span of the caller's that a request belongs to (W3C Trace Context §3.2). */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whether the caller records its part. */
  readonly sampled: boolean;
}

const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads the header; undefined where it is not valid, which counts as not sent. A later version may have more at its
 * end.
 */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = form.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}
