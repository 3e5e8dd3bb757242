// Unary gRPC calls over one HTTP/2 connection, without the silent retries of a library.
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { ClientHttp2Session } from "node:http2";
import { connect, constants } from "node:http2";
import { isReset } from "./connection.ts";

/** A connection, which accepts no new calls after the server's GOAWAY. */
export interface GrpcConnection {
  readonly usable: boolean;
  /** Resolves with the status and the message. Rejects if the call ends without a status. */
  call(path: string, message: Uint8Array, metadata: Readonly<Record<string, string>>): Promise<GrpcResponse>;
  close(): void;
}

/** The outcome of a call. Status 0 is a success. */
export interface GrpcResponse {
  readonly status: number;
  /** Empty for a failure. */
  readonly message: Buffer;
  /** The percent-encoded message of a failure. */
  readonly detail: string;
}

export function callRpc<I extends DescMessage>(
  connection: GrpcConnection,
  { parent, name, input }: DescMethodUnary<I>,
  message: MessageInitShape<I>,
  metadata: Readonly<Record<string, string>>,
): Promise<GrpcResponse> {
  return connection.call(`/${parent.typeName}/${name}`, toBinary(input, create(input, message)), metadata);
}

/**
 * A call ended without a status. `REFUSED_STREAM`: it was not processed because of a GOAWAY (RFC 9113 §8.7).
 * `NOT_ACCEPTED`: the connection was reset before anything was received, as for `NotAcceptedError`.
 */
class CutOff extends Error {
  override readonly name = "CutOff";
  readonly code: string;

  constructor(code: string) {
    super(`a call ended without a status: ${code}`);
    this.code = code;
  }
}

/** Connects. Rejects with the socket's error, such as ECONNREFUSED. */
export function openGrpc(base: string): Promise<GrpcConnection> {
  return new Promise((resolve, reject) => {
    const session = connect(base);
    session.once("error", reject);
    session.once("connect", () => {
      session.off("error", reject);
      // Calls that are cut off report it.
      session.on("error", () => undefined);
      resolve(overSession(session));
    });
  });
}

function overSession(session: ClientHttp2Session): GrpcConnection {
  let silent = true;
  let reset = false;
  // A server sends its settings first.
  session.once("remoteSettings", () => (silent = false));
  session.once("error", (error) => (reset = isReset(error)));
  return {
    get usable() {
      return !session.closed && !session.destroyed;
    },
    call: (path, message, metadata) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": path,
          "content-type": "application/grpc",
          te: "trailers",
          ...metadata,
        });
        const chunks: Buffer[] = [];
        let status: number | undefined;
        let detail = "";
        const note = (headers: Readonly<Record<string, unknown>>): void => {
          if (headers["grpc-status"] !== undefined) status = Number(headers["grpc-status"]);
          if (headers["grpc-message"] !== undefined) detail = String(headers["grpc-message"]);
        };
        stream.on("response", note);
        stream.on("trailers", note);
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        // `close` reports it.
        stream.on("error", () => undefined);
        stream.on("close", () => {
          if (status === undefined)
            return reject(new CutOff(silent && reset ? "NOT_ACCEPTED" : nameOf(stream.rstCode)));
          resolve({ status, message: Buffer.concat(chunks).subarray(5), detail });
        });
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(message.length, 1);
        stream.end(Buffer.concat([prefix, message]));
      }),
    close: () => session.destroy(),
  };
}

function nameOf(code: number): string {
  return code === constants.NGHTTP2_REFUSED_STREAM ? "REFUSED_STREAM" : `RST_${code}`;
}
