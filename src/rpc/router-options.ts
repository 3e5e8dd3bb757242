// The options of the library's routers.
import type { ConnectRouterOptions } from "@connectrpc/connect";
import { gzip } from "./gzip.ts";

/**
 * The options for messages of at most `readMaxBytes`. Unknown JSON fields are errors, as over REST. Unknown binary
 * fields are skipped, as nothing reads them: a message can have a hundred thousand.
 */
export function routerOptions(readMaxBytes: number): ConnectRouterOptions {
  return {
    acceptCompression: [gzip],
    readMaxBytes,
    jsonOptions: { ignoreUnknownFields: false },
    binaryOptions: { readUnknownFields: false },
  };
}
