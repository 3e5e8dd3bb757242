// Recognizes hosts that are this machine.

/** Whether a host, as in a setting or URL, is local to this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
}

/** Whether a host is a loopback host or any name under `localhost`, which resolves to this machine (RFC 6761 §6.3). */
export function isLocalName(host: string): boolean {
  return isLoopback(host) || host.endsWith(".localhost");
}
