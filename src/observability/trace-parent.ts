// Strict parser of the W3C `traceparent` header, so that no other text gets into a log or a trace.

/** The caller's span that is the parent of a request (W3C Trace Context §3.2). */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whether the caller may have recorded the trace. */
  readonly sampled: boolean;
}

const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses the header. Returns undefined if it is missing or invalid. Later versions may append further fields. */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = form.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}
