// Wraps a socket in a stream: Node's HTTP/2 reads from a socket's handle directly, which would bypass the pacing.
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** Returns a stream that reads from the socket and writes to it. Each ends with the other. */
export function socketStream(socket: Socket): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, written) => void socket.write(chunk, written),
    writev(chunks, written) {
      socket.cork();
      for (const [at, { chunk }] of chunks.entries()) {
        socket.write(chunk as Buffer, at === chunks.length - 1 ? written : undefined);
      }
      socket.uncork();
    },
    final: (ended) => void socket.end(ended),
    destroy(error, destroyed) {
      socket.destroy();
      destroyed(error);
    },
  });
  socket.on("data", (chunk: Buffer) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null));
  socket.on("close", () => stream.destroy());
  return stream;
}
