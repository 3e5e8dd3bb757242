// Facts of an HTTP request for the surfaces: its id, its client's address, single headers.
import { randomUUID } from "node:crypto";
import { maxHeaderSize } from "node:http";
import { splitTarget } from "./query.ts";
import { addressOf } from "../config/address.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../call/errors.ts";
import type { CallerLimits } from "../call/deadline.ts";
import type { Inbound } from "../call/dispatch.ts";
import { createTally } from "../call/tally.ts";
import type { Head, Request } from "../call/exchange.ts";
import { isHost } from "./host.ts";
import { peerOf } from "./peer-limits.ts";

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Returns the facts of a request that the guards need before its body. `limits` states when the caller stops waiting.
 */
export function inboundOf(request: Request, trustProxy: number, limits?: CallerLimits): Inbound {
  const { headers } = request;
  return {
    header: (name) => single(headers[name]),
    address: clientAddress(request, trustProxy),
    requestId: requestIdOf(request),
    arrivedAt: performance.now(),
    limits,
    observation: {},
    tally: createTally(),
  };
}

/** Returns the id that the caller sent, or else a new one (contract §2.8). */
export function requestIdOf({ headers }: Head): string {
  const sent = single(headers["x-request-id"]);
  return sent !== undefined && requestIdForm.test(sent) ? sent : randomUUID();
}

/**
 * Checks the headers of a request. Fails with HEADERS_TOO_LARGE above Node's limit for HTTP/1.1. Fails with
 * MALFORMED_HTTP if `Host`, `Authorization` or `Content-Type` is sent twice, because another reader may have used the
 * other one. Fails with MALFORMED_HTTP for a `Host` that is not valid, and if HTTP/1.1 has none (RFC 9112 §3.2). Fails
 * with MALFORMED_HTTP for a transfer coding other than chunked, which Node would ignore.
 */
export function requireValidHead({ rawHeaders, httpVersion, headers }: Request): void {
  let hosts = 0;
  let authorizations = 0;
  let types = 0;
  if (sizeOf(rawHeaders) > maxHeaderSize) fail(Reason.HEADERS_TOO_LARGE);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name === "host") hosts++;
    else if (name === "authorization") authorizations++;
    else if (name === "content-type") types++;
  }
  if (hosts === 0 && httpVersion === "1.1") fail(Reason.MALFORMED_HTTP, { message: "Host: is required." });
  if (hosts > 1) fail(Reason.MALFORMED_HTTP, { message: "Host: must not be sent more than once." });
  requireValidHost(headers.host, headers[":authority"]?.toString());
  if (authorizations > 1) fail(Reason.MALFORMED_HTTP, { message: "Authorization: must not be sent more than once." });
  if (types > 1) fail(Reason.MALFORMED_HTTP, { message: "Content-Type: must not be sent more than once." });
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    fail(Reason.MALFORMED_HTTP, {
      message: "Transfer-Encoding: must be chunked. Send the body without other codings.",
    });
}

/** Fails with MALFORMED_HTTP if `Host` or `:authority` is not valid, or if they differ (RFC 9113 §8.3.1). */
function requireValidHost(host: string | undefined, authority: string | undefined): void {
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== authority.toLowerCase())
    fail(Reason.MALFORMED_HTTP, { message: "Host: must be the same as :authority." });
  const named = host ?? authority;
  if (named !== undefined && !isHost(named))
    fail(Reason.MALFORMED_HTTP, { message: "Host: must be the name or address of a host, with or without a port." });
}

/** Returns the size of names and values, in bytes. Node decodes each byte to one character. */
export function sizeOf(rawHeaders: readonly string[]): number {
  let size = 0;
  for (const { length } of rawHeaders) size += length;
  return size;
}

/** Returns the path of the request target, as it was sent. */
export function pathOf({ url = "/" }: Head): string {
  return splitTarget(url).path;
}

/**
 * Returns the address that the outermost of our own proxies saw; without proxies, the peer's (contract §6,
 * `TRUST_PROXY`). If a proxy wrote no address, the proxy's own address counts, as the next proxy saw it.
 */
export function clientAddress(request: Head, trustProxy: number): string {
  const peer = peerOf(request);
  const own = addressOf(peer) ?? peer;
  if (trustProxy === 0) return own;
  const forwarded =
    single(request.headers["x-forwarded-for"])
      ?.split(",")
      .filter((part) => part.trim() !== "") ?? [];
  for (const part of forwarded.slice(Math.max(0, forwarded.length - trustProxy))) {
    const address = addressOf(part);
    if (address !== undefined) return address;
  }
  return own;
}

/** Returns the value of a header that may be repeated, without blanks around it, which HTTP/2 keeps. */
export function single(value: string | string[] | undefined): string | undefined {
  const joined = Array.isArray(value) ? value.join(", ") : value;
  if (joined === undefined) return undefined;
  let [start, end] = [0, joined.length];
  while (start < end && isBlank(joined[start])) start += 1;
  while (start < end && isBlank(joined[end - 1])) end -= 1;
  return joined.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}
