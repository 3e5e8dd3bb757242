// Parser of the settings that are web addresses: what a URL parser would repair is rejected, for it is used as written.
import { ConfigError } from "./config-error.ts";

/** All that RFC 3986 allows in a URL. */
const characters = /^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/;
const tracesPath = "/v1/traces";

/**
 * The address as it is written, of http or https, with a path or without. It is published, compared and continued by a
 * path, so it has neither credentials nor a query nor a fragment. The message repeats nothing of it: there may be a
 * password in it.
 */
export function webAddress(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const wrong = (problem: string): never => {
    throw new ConfigError(name, problem);
  };
  // `https:records.example.com` and `https:///records.example.com` parse too.
  if (!/^https?:\/\/[^/]/.test(value)) wrong("must be a URL that begins with http:// or https:// and a host");
  // Blanks at the end and line breaks are dropped by the parser, and a backslash is a slash to it.
  if (!characters.test(value))
    wrong("must contain only characters of a URL: remove blanks and line breaks, and percent-encode the others");
  const [authority = ""] = value.slice(value.indexOf("//") + 2).split(/[/?#]/, 1);
  if (authority.includes("@")) wrong("must not contain a user or a password: remove what is before the @, and the @");
  if (/[?#]/.test(value)) wrong("must not have a query or a fragment: remove the ? or #, and everything after it");
  if (!URL.canParse(value)) wrong("must be a URL with a valid host and port, such as https://records.example.com");
  return value;
}

/** The address without slashes at its end, for a path to follow. */
export function baseAddress(name: string, value: string | undefined): string | undefined {
  return webAddress(name, value)?.replace(/(?<!\/)\/+$/, "");
}

/** The address for traces at a collector: OpenTelemetry has every exporter append the path. */
export function tracesAddress(name: string, value: string | undefined): string | undefined {
  const base = baseAddress(name, value);
  if (base?.endsWith(tracesPath))
    throw new ConfigError(name, `must not end with ${tracesPath}, which the service appends: remove it`);
  return base === undefined ? undefined : base + tracesPath;
}
