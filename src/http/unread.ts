// Ends requests whose body is not read completely.
import type { ServerHttp2Stream } from "node:http2";
import { closeSent, lingerMs } from "./linger.ts";
import type { Request, Response } from "../call/exchange.ts";

/**
 * Ends a request whose response does not need the rest of its body. After the response, the rest is read and discarded
 * for `lingerMs`. Otherwise the client would wait to send it, and a stop of the instance would wait for the client.
 */
export function endUnread(request: Request & { readonly stream?: ServerHttp2Stream }, response: Response): void {
  const { stream } = request;
  if (stream?.endAfterHeaders === true) return;
  // HTTP/2 keeps the connection, and its response is complete only when the stream is.
  (stream ?? response).once("finish", () => {
    if (request.complete) return;
    // A reader that has given up can leave its listener behind, with which nothing would be discarded.
    request.removeAllListeners("readable");
    request.on("data", () => undefined);
    request.resume();
    const timer = setTimeout(() => (stream === undefined ? request.destroy() : closeSent(stream)), lingerMs);
    const stop = (): void => clearTimeout(timer);
    // The body has arrived. On a busy machine, the end of the response may still have to be sent.
    request.once("end", stop);
    (stream ?? request).once("close", stop);
  });
}
