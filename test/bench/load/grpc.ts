// gRPC calls over Node's HTTP/2 client, with several streams per connection.
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:http2";
import type { GrpcRequest } from "./load.ts";

/** The response of a gRPC call. */
export interface GrpcResponse {
  /** `grpc-status`; 0 is a success. */
  readonly status: number;
  readonly message: Buffer;
}

/** A connection for concurrent gRPC calls. */
export interface GrpcConnection {
  call(request: GrpcRequest): Promise<GrpcResponse>;
  close(): void;
}

/** Connects to a local port. */
export function grpcConnection(port: number): GrpcConnection {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  return { call: (request) => call(session, request), close: () => session.destroy() };
}

function call(session: ClientHttp2Session, { path, authorization, message }: GrpcRequest): Promise<GrpcResponse> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      authorization,
    });
    let status = -1;
    const chunks: Buffer[] = [];
    const read = (headers: Record<string, unknown>): void => {
      if (headers["grpc-status"] !== undefined) status = Number(headers["grpc-status"]);
    };
    stream
      .on("response", read)
      .on("trailers", read)
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("error", reject);
    stream.on("end", () => resolve({ status, message: Buffer.concat(chunks).subarray(5) }));
    stream.end(framed(Buffer.from(message, "base64")));
  });
}

/** Adds gRPC's five-byte prefix: uncompressed, and the length. */
function framed(message: Buffer): Buffer {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, 5);
  return frame;
}
