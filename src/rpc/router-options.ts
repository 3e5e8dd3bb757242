// Options of the library's routers.
import type { ConnectRouterOptions } from "@connectrpc/connect";
import { gzip } from "./gzip.ts";
import type { TextOf } from "./json-flaws.ts";

/** Unknown binary fields are skipped, because nothing reads them and a message can have a hundred thousand. */
export const readOptions = { readUnknownFields: false };

/**
 * Returns the options for messages of at most `readMaxBytes`. Unknown JSON fields are errors, as over REST.
 */
export function routerOptions(readMaxBytes: number, textDecoder: TextOf = new TextDecoder()): ConnectRouterOptions {
  // The library's codec reads `textDecoder` from here, although the type of the router's options does not declare it.
  const jsonOptions = { ignoreUnknownFields: false, textDecoder };
  return {
    acceptCompression: [gzip],
    readMaxBytes,
    jsonOptions,
    binaryOptions: readOptions,
  };
}
