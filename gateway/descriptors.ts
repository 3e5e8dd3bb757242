// The descriptor set of the public services, which clients in other languages are generated from.
import descriptors from "../src/gen/descriptors.json" with { type: "json" };
import type { ServedDocument } from "./served-document.ts";
import { lazyDocument } from "./served-document.ts";

/** The set in its binary form. */
export const descriptorDocument: ServedDocument = lazyDocument("application/octet-stream", () =>
  Buffer.from(descriptors.base64, "base64"),
);
