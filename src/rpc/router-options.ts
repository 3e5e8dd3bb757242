// The options of the library's routers.
import type { ConnectRouterOptions } from "@connectrpc/connect";
import { gzip } from "./gzip.ts";
import type { TextOf } from "./json-flaws.ts";

/**
 * The options for messages of at most `readMaxBytes`. Unknown JSON fields are errors, as over REST. Unknown binary
 * fields are skipped, as nothing reads them: a message can have a hundred thousand.
 */
export function routerOptions(readMaxBytes: number, textDecoder: TextOf = new TextDecoder()): ConnectRouterOptions {
  // The library's codec reads `textDecoder` from these, though the type of the router's options does not name it.
  const jsonOptions = { ignoreUnknownFields: false, textDecoder };
  return {
    acceptCompression: [gzip],
    readMaxBytes,
    jsonOptions,
    binaryOptions: { readUnknownFields: false },
  };
}
