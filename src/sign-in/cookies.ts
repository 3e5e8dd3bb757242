// The cookies of the dashboard: how they are called, set and read (RFC 6265bis).
import { readCookie } from "../call/negotiation.ts";

/** A cookie of ours. */
export interface Cookie {
  /** The name in force: with `__Host-` where the outside calls us by https, so that nobody beside us can set it. */
  name(): string;
  /** The value in a `Cookie` header. */
  read(header: string | undefined): string | undefined;
  /** The `Set-Cookie` line that sets it; without `maxAgeSeconds` the browser keeps it until it is closed. */
  set(value: string, maxAgeSeconds?: number): string;
  /** The `Set-Cookie` line that removes it. */
  clear(): string;
}

/**
 * A cookie that scripts cannot read. `Lax`, because the browser comes back from the identity provider by a navigation
 * that another site began; what changes something checks its `Origin`.
 */
export function createCookie(plainName: string, secure: () => boolean): Cookie {
  const name = (): string => (secure() ? `__Host-${plainName}` : plainName);
  const attributes = (): string => `; Path=/; HttpOnly; SameSite=Lax${secure() ? "; Secure" : ""}`;
  return {
    name,
    read: (header) => readCookie(header, name()),
    set: (value, maxAgeSeconds) =>
      `${name()}=${value}${attributes()}${maxAgeSeconds === undefined ? "" : `; Max-Age=${maxAgeSeconds}`}`,
    clear: () => `${name()}=${attributes()}; Max-Age=0`,
  };
}
