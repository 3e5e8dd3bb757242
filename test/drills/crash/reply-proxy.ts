// A proxy that holds back the rest of a response after its first part, over HTTP/1.1 or HTTP/2.
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

/**
 * How much of a response the client receives: over HTTP/1.1 the head or all but a byte, over gRPC the headers or all
 * but the trailers.
 */
export type Received = "nothing" | "the head" | "all but the end";

export interface ReplyProxy {
  readonly base: string;
  /** Resolves when the response is held back. Nothing more passes until the instance is gone. */
  readonly reached: Promise<void>;
  stop(): void;
}

/** Starts a proxy to the instance on this port of 127.0.0.1. */
export async function startReplyProxy(port: number, received: Received): Promise<ReplyProxy> {
  const sockets = new Set<Socket>();
  let hold = (): void => undefined;
  const reached = new Promise<void>((resolve) => (hold = resolve));

  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => (end(), sockets.delete(socket)));
    }
    near.pipe(far);
    let held = false;
    let rest: Buffer = Buffer.alloc(0);
    let headers = 0;
    far.on("data", (chunk: Buffer) => {
      if (held) return;
      rest = Buffer.concat([rest, chunk]);
      const cut =
        rest.toString("latin1", 0, 5) === "HTTP/" ? cutHttp1(rest, received) : cutHttp2(rest, received, headers);
      if (cut === undefined) return;
      near.write(rest.subarray(0, cut.passes));
      rest = rest.subarray(cut.passes);
      headers = cut.headers;
      held = cut.held;
      if (held) hold();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** How many bytes pass, whether the rest is held back, and how many HEADERS frames have passed. */
interface Cut {
  readonly passes: number;
  readonly held: boolean;
  readonly headers: number;
}

/** Undefined until the whole response has arrived. */
function cutHttp1(reply: Buffer, received: Received): Cut | undefined {
  const head = reply.indexOf("\r\n\r\n") + 4;
  const length = Number(/^content-length: (\d+)/im.exec(reply.toString("latin1", 0, head))?.[1]);
  if (head < 4 || reply.length < head + length) return undefined;
  return {
    passes: { nothing: 0, "the head": head, "all but the end": head + length - 1 }[received],
    held: true,
    headers: 0,
  };
}

/**
 * RFC 9113: the frame header has nine bytes and starts with three bytes of length and one of type. HEADERS is type 1.
 */
function cutHttp2(reply: Buffer, received: Received, before: number): Cut {
  const passing = { nothing: 0, "the head": 1, "all but the end": 1 }[received];
  let [at, headers] = [0, before];
  for (; at + 9 <= reply.length; at += 9 + reply.readUIntBE(at, 3)) {
    const type = reply[at + 3];
    if (at + 9 + reply.readUIntBE(at, 3) > reply.length) break;
    if ((type === 1 && headers === passing) || (type === 0 && received === "the head"))
      return { passes: at, held: true, headers };
    if (type === 1) headers += 1;
  }
  return { passes: at, held: false, headers };
}
