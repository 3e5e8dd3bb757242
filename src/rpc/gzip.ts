// gzip of messages: each large one is decoded in a turn of its own, however small it was sent.
import { compressionGzip } from "@connectrpc/connect-node";
import type { Compression } from "@connectrpc/connect/protocol";
import { inOwnTurn } from "../../gateway/body.ts";

/** The library's gzip. The library decodes a message as soon as it is inflated, and so do others. */
export const gzip: Compression = {
  ...compressionGzip,
  async decompress(bytes, mostBytes) {
    const inflated = await compressionGzip.decompress(bytes, mostBytes);
    await inOwnTurn(inflated.length);
    return inflated;
  },
};
