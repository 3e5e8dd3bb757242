// Calls over cleartext HTTP/2 as they stand on the wire: HTTP's status, headers and trailers, which a gRPC client
// hides.
import { connect } from "node:http2";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";

/** An answer, read whole. */
export interface Http2Answer {
  readonly status: number;
  /** Headers and trailers alike. */
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
}

/** One request on a connection of its own, with prior knowledge. */
export function http2Call(base: string, headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const session = connect(base);
    session.on("error", reject);
    const stream = session.request(headers, { endStream: body === undefined });
    let received: IncomingHttpHeaders & { ":status"?: number } = {};
    const chunks: Buffer[] = [];
    const keep = (more: IncomingHttpHeaders): void => void (received = { ...received, ...more });
    stream.on("response", keep);
    stream.on("trailers", keep);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("close", () => {
      session.close();
      const bytes = Buffer.concat(chunks);
      resolve({ status: received[":status"] ?? 0, headers: received, text: bytes.toString(), bytes });
    });
    if (body !== undefined) stream.end(body);
  });
}

/** A gRPC call of an rpc with these bytes as its message; they need not be one. */
export function grpcCall(
  base: string,
  rpc: string,
  message: Uint8Array,
  headers: OutgoingHttpHeaders = {},
): Promise<Http2Answer> {
  const length = Buffer.alloc(5);
  length.writeUInt32BE(message.length, 1);
  return http2Call(
    base,
    { ":method": "POST", ":path": `/${rpc}`, "content-type": "application/grpc", te: "trailers", ...headers },
    Buffer.concat([length, message]),
  );
}
