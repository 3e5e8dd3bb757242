// Clients that have closed their sending half. One that still waits for its response looks like one that has left.
import type { Socket } from "node:net";
import type { Response } from "../call/exchange.ts";

/** The time until the first probe, in milliseconds. Each further one waits twice as long. */
const firstMs = 250;

/**
 * Probes a client that has sent its end while it has a request, until the response begins. A client that has left
 * rejects what is sent to it, which closes the connection and cancels the request. One that waits ignores the interim
 * response, as every client of HTTP/1.1 must (RFC 9110 §15.2). Once the response has begun, nothing but itself can be
 * sent: a client to which nothing is being sent then counts as one that has left.
 */
export function probeHalfClosed(socket: Socket, responses: ReadonlySet<Response>): void {
  socket.once("end", () => {
    const probe = (waitMs: number): void => {
      const [response] = responses;
      if (response === undefined || socket.destroyed) return;
      if (response.headersSent && response.writableLength === 0) return void socket.destroy();
      if (!response.headersSent && response.req.httpVersionMinor === 1) response.writeProcessing();
      timer = setTimeout(probe, waitMs, 2 * waitMs);
    };
    let timer = setTimeout(probe, firstMs, firstMs);
    socket.once("close", () => clearTimeout(timer));
  });
}
