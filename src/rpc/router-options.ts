// The options of the library's routers.
import type { ConnectRouterOptions } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";

/** The options for messages of at most `readMaxBytes`. Unknown JSON fields are errors, as over REST. */
export function routerOptions(readMaxBytes: number): ConnectRouterOptions {
  return { acceptCompression: [compressionGzip], readMaxBytes, jsonOptions: { ignoreUnknownFields: false } };
}
