// A small HTTP/1.1 client on raw keep-alive sockets, with one request at a time per connection.
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

/** The parts of a response that the bench uses. */
export interface WireResponse {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

/** A keep-alive connection. */
export interface WireConnection {
  /**
   * Sends a request and resolves with the response, after which the next may be sent. Rejects if the connection ends.
   */
  send(request: string): Promise<WireResponse>;
  close(): void;
}

/** Connects to a local port. */
export async function wireConnection(port: number): Promise<WireConnection> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  await once(socket, "connect");
  const settle = listen(socket);
  return {
    send(request) {
      const response = settle();
      socket.write(request);
      return response;
    },
    close: () => socket.destroy(),
  };
}

/** Sends one request on a new connection. */
export async function sendOnce(port: number, request: string): Promise<WireResponse> {
  const connection = await wireConnection(port);
  try {
    return await connection.send(request);
  } finally {
    connection.close();
  }
}

/** Assembles responses from the socket's data. */
function listen(socket: Socket): () => Promise<WireResponse> {
  let chunks: Buffer[] = [];
  let received = 0;
  let head: string | undefined;
  let bodyAt = 0;
  let length: number | undefined;
  let waiting: { resolve(response: WireResponse): void; reject(error: Error): void } | undefined;
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    received += chunk.length;
    if (head === undefined) {
      const start = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      const end = start.indexOf("\r\n\r\n");
      if (end === -1) return;
      const text = start.toString("latin1", 0, end);
      head = text;
      bodyAt = end + 4;
      const declared = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
      length = declared === undefined ? undefined : Number(declared);
    }
    // A chunked response ends with these five bytes, because JSON contains no line breaks.
    const complete =
      length === undefined
        ? chunk.toString("latin1", Math.max(0, chunk.length - 5)) === "0\r\n\r\n"
        : received >= bodyAt + length;
    if (!complete) return;
    const [all, from] = [chunks, bodyAt];
    const response = {
      status: Number(head.slice(9, 12)),
      head,
      get body() {
        return Buffer.concat(all).subarray(from);
      },
    };
    [chunks, received, head] = [[], 0, undefined];
    const pending = waiting;
    waiting = undefined;
    pending?.resolve(response);
  });
  socket.on("error", fail).on("close", () => fail(new Error("the connection was closed")));
  return () => new Promise((resolve, reject) => void (waiting = { resolve, reject }));
}
