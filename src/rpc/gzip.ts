// gzip for messages: each large one is decoded in its own turn of the event loop, however small its compressed size.
import { compressionGzip } from "@connectrpc/connect-node";
import type { Compression } from "@connectrpc/connect/protocol";
import { waitForDecodeTurn } from "../http/body.ts";

/**
 * The library's gzip. The library decodes a message as soon as it is inflated, so several could be decoded in one turn.
 */
export const gzip: Compression = {
  ...compressionGzip,
  async decompress(bytes, maxBytes) {
    const inflated = await compressionGzip.decompress(bytes, maxBytes);
    await waitForDecodeTurn(inflated.length);
    return inflated;
  },
};
