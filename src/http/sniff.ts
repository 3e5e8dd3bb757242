// Distinguishes HTTP/2 from HTTP/1.1 by the first bytes of a connection.
import type { Socket } from "node:net";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Reads enough bytes to distinguish HTTP/2 from HTTP/1, and puts them back. Destroys the socket after `waitMs`. */
export function sniff(socket: Socket, waitMs: number, decide: (version: 1 | 2) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), waitMs);
  socket.once("close", () => clearTimeout(timer));
  const look = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    const alike = seen.subarray(0, length).equals(preface.subarray(0, length));
    if (alike && length < preface.length) return;
    socket.off("data", look);
    socket.pause();
    clearTimeout(timer);
    socket.unshift(seen);
    decide(alike ? 2 : 1);
    socket.resume();
  };
  socket.on("data", look);
}
