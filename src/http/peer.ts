// Peer addresses of connections: Node has that of an HTTP/2 session only if it reads the socket itself.
import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Head } from "../call/exchange.ts";

const peers = new WeakMap<Http2Session, string>();

/** Remembers the peer of an HTTP/2 session. */
export function setPeer(session: Http2Session, { remoteAddress }: Socket): void {
  if (remoteAddress !== undefined) peers.set(session, remoteAddress);
}

/** Returns the address of the peer that opened the connection of a request; empty if the connection is closed. */
export function peerOf(request: Head): string {
  const session = request.stream?.session;
  return (session === undefined ? undefined : peers.get(session)) ?? request.socket?.remoteAddress ?? "";
}
