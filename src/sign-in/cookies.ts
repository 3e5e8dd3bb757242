// The dashboard's cookies: their names, and functions to set and read them (RFC 6265bis).
import { readCookie } from "../call/negotiation.ts";

/** A cookie of the dashboard. */
export interface Cookie {
  /**
   * Returns the name in force. If the public base URL is https, it starts with `__Host-`, so that no other host can set
   * the cookie.
   */
  name(): string;
  /** Returns the value in a `Cookie` header; undefined if the header does not have the cookie. */
  read(header: string | undefined): string | undefined;
  /**
   * Returns the `Set-Cookie` value that sets the cookie. Without `maxAgeSeconds`, the browser keeps it until it is
   * closed.
   */
  set(value: string, maxAgeSeconds?: number): string;
  /** Returns the `Set-Cookie` value that removes the cookie. */
  clear(): string;
}

/**
 * Creates a cookie that scripts cannot read. It is `Lax`, because the browser comes back from the identity provider by
 * a navigation that another site started. Requests that change something have their `Origin` checked.
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
