// Facts about message types that are computed once, on first use.
import type { DescMessage } from "@bufbuild/protobuf";

/** Returns a function that computes its result once for each message descriptor. */
export function perMessage<T>(compute: (schema: DescMessage) => T): (schema: DescMessage) => T {
  const known = new Map<DescMessage, T>();
  return (schema) => {
    let value = known.get(schema);
    if (value === undefined) {
      value = compute(schema);
      known.set(schema, value);
    }
    return value;
  };
}
