// Parser of settings that are web addresses. Rejects a text that a URL parser would repair, because an address is used
// as written.
import { ConfigError } from "./config-error.ts";

/** Matches the characters that RFC 3986 allows in a URL. */
const characters = /^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/;
const tracesPath = "/v1/traces";

/**
 * Returns an http or https address as written, with or without a path. The address is published, compared and extended
 * by a path, so it must have no credentials, query or fragment. Throws a ConfigError for an invalid address. Its
 * message repeats nothing of the address, which may contain a password.
 */
export function webAddress(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const wrong = (problem: string): never => {
    throw new ConfigError(name, problem);
  };
  // A URL parser also accepts `https:records.example.com` and `https:///records.example.com`.
  if (!/^https?:\/\/[^/]/.test(value)) wrong("must be a URL that begins with http:// or https:// and a host");
  // A URL parser drops trailing blanks and line breaks, and reads a backslash as a slash.
  if (!characters.test(value))
    wrong("must contain only characters of a URL: remove blanks and line breaks, and percent-encode the others");
  const [authority = ""] = value.slice(value.indexOf("//") + 2).split(/[/?#]/, 1);
  if (authority.includes("@")) wrong("must not contain a user or a password: remove what is before the @, and the @");
  if (/[?#]/.test(value)) wrong("must not have a query or a fragment: remove the ? or #, and everything after it");
  if (!URL.canParse(value)) wrong("must be a URL with a valid host and port, such as https://records.example.com");
  return value;
}

/** Returns the address without trailing slashes, so that a path can follow. */
export function baseAddress(name: string, value: string | undefined): string | undefined {
  return webAddress(name, value)?.replace(/(?<!\/)\/+$/, "");
}

/** Returns the address for traces at a collector. OpenTelemetry requires every exporter to append the path. */
export function tracesAddress(name: string, value: string | undefined): string | undefined {
  const base = baseAddress(name, value);
  if (base?.endsWith(tracesPath))
    throw new ConfigError(name, `must not end with ${tracesPath}, which the service appends: remove it`);
  return base === undefined ? undefined : base + tracesPath;
}
