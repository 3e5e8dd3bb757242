// Many concurrent unary gRPC calls over a few HTTP/2 connections, in prepared frames. A client library would use more
// CPU than the service.
import type { Socket } from "node:net";
import { connect } from "node:net";
import { flags, frame, frameReader, literal, preface, types } from "../../fixtures/clients/http2-frames.ts";

/** The prepared frame payloads of a call. */
export interface PreparedCall {
  readonly fields: Buffer;
  readonly data: Buffer;
}

/** How a call ended: with a message, with only a status, or reset; and the milliseconds since it was written. */
export interface CallEnd {
  readonly end: "message" | "status" | "reset";
  readonly wireMs: number;
}

/** Connections that take calls in turn. */
export interface Streams {
  /** Sends the call. Resolves when its stream ends. Rejects if the connection closes first. */
  call(call: PreparedCall): Promise<CallEnd>;
  close(): void;
}

/** Prepares a call of an RPC with a message. */
export function prepareCall(
  base: string,
  path: string,
  metadata: Readonly<Record<string, string>>,
  message: Uint8Array,
): PreparedCall {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const fields = {
    ":method": "POST",
    ":scheme": "http",
    ":authority": new URL(base).host,
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...metadata,
  };
  return {
    fields: Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value))),
    data: Buffer.concat([prefix, message]),
  };
}

/** The maximum window of a stream or a connection, so that the service never waits for window updates. */
const window = 2 ** 31 - 1;

/** The maximum of open streams on one connection, as the service sets it. It closes a connection with more. */
const maxStreams = 100;

/** Opens the connections. A call rejects if every connection is closed or has all the streams that it may have. */
export async function openStreams(base: string, connections: number): Promise<Streams> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(base)));
  let turn = 0;
  return {
    call(call) {
      for (let tried = 0; tried < open.length; tried++) {
        const connection = open[turn++ % open.length];
        if (connection?.isFree() === true) return connection.call(call);
      }
      return Promise.reject(new Error("no connection is free"));
    },
    close: () => open.forEach((connection) => connection.close()),
  };
}

/** A connection, and whether it can take a call. */
interface Connection extends Streams {
  isFree(): boolean;
}

function openConnection(base: string): Promise<Connection> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => resolve(overSocket(socket)));
  });
}

interface Pending {
  readonly sentAt: number;
  hasMessage: boolean;
  resolve(end: CallEnd): void;
  reject(error: Error): void;
}

function overSocket(socket: Socket): Connection {
  const pending = new Map<number, Pending>();
  const read = frameReader();
  let next = 1;
  // SETTINGS_INITIAL_WINDOW_SIZE.
  const settings = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);
  const update = Buffer.alloc(4);
  update.writeUInt32BE(window - 65_535);
  socket.write(
    Buffer.concat([preface, frame(types.settings, 0, 0, settings), frame(types.windowUpdate, 0, 0, update)]),
  );
  socket.on("data", (chunk: Buffer) => {
    for (const { type, flags: set, stream, payload } of read(chunk)) {
      if (type === types.settings && (set & flags.ack) === 0) socket.write(frame(types.settings, flags.ack, 0));
      if (type === types.ping && (set & flags.ack) === 0) socket.write(frame(types.ping, flags.ack, 0, payload));
      const call = pending.get(stream);
      if (call === undefined) continue;
      if (type === types.data && payload.length > 0) call.hasMessage = true;
      const isReset = type === types.reset;
      if (!isReset && (set & flags.endStream) === 0) continue;
      pending.delete(stream);
      const end = isReset ? "reset" : call.hasMessage ? "message" : "status";
      call.resolve({ end, wireMs: performance.now() - call.sentAt });
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    for (const call of pending.values()) call.reject(new Error("the connection was closed"));
    pending.clear();
  });
  return {
    isFree: () => pending.size < maxStreams && !socket.destroyed,
    call({ fields, data }) {
      const stream = next;
      next += 2;
      return new Promise((resolve, reject) => {
        pending.set(stream, { sentAt: performance.now(), hasMessage: false, resolve, reject });
        socket.write(
          Buffer.concat([
            frame(types.headers, flags.endHeaders, stream, fields),
            frame(types.data, flags.endStream, stream, data),
          ]),
        );
      });
    },
    close: () => socket.destroy(),
  };
}
