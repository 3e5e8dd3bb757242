// Bounds the connections and the open HTTP/2 streams of a listener, and the share of each client network.
import type { Socket } from "node:net";
import type { Http2Session } from "node:http2";
import { addressOf, networkOf } from "../config/address.ts";
import type { Limited, ListenerOptions, Head } from "../call/exchange.ts";
import type { Maxima, SharedTotal } from "../call/shared-total.ts";
import { createSharedTotal } from "../call/shared-total.ts";

/** The limits of a listener. */
export interface PeerLimits {
  /** Its connections. */
  readonly connections: SharedTotal;
  /** The memory of its open HTTP/2 streams, in bytes. */
  readonly streams: SharedTotal;
}

/** The maximum number of connections. */
export const maxConnections: Maxima = { total: 10_000, ofEach: 2_500 };
/**
 * The maximum memory of open streams. With small headers, that is 2,000 streams, and 1,000 of a network, many more than
 * can be served at a time. Closing them all at once takes a tenth of a second.
 */
const maxStreams: Maxima = { total: 33_554_432, ofEach: 16_777_216 };

/** Creates the limits. Networks have no share of their own unless each peer is a client. */
export function createPeerLimits({
  peersAreClients,
  onLimit,
}: Pick<ListenerOptions, "peersAreClients" | "onLimit">): PeerLimits {
  const create = (maxima: Maxima, what: Limited): SharedTotal => {
    const shared = createSharedTotal(peersAreClients ? maxima : { ...maxima, ofEach: maxima.total });
    return {
      ...shared,
      take(network, amount) {
        const giveBack = shared.take(network, amount);
        if (giveBack === undefined) onLimit(what);
        return giveBack;
      },
    };
  };
  return { connections: create(maxConnections, "connection"), streams: create(maxStreams, "stream") };
}

/** Returns the network of a connection's peer. An IPv4 client of a listener on `::` has an IPv4-mapped address. */
export function networkOfPeer({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return networkOf(addressOf(remoteAddress) ?? remoteAddress);
}

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
