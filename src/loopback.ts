// Recognizes the hosts that are this machine.

/**
 * Whether a host, as a setting or a URL names it, is reached from this machine alone (RFC 1122 §3.2.1.3, RFC 4291
 * §2.5.3).
 */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
}

/** The same, and every name under `localhost`, which resolves to this machine (RFC 6761 §6.3). */
export function isLocalName(host: string): boolean {
  return isLoopback(host) || host.endsWith(".localhost");
}
