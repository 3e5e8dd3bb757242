// Splits the target of a request, and its query into parameters (contract §2.3, §2.4); request.ts interprets their
// values.
import type { Violation } from "../call/errors.ts";
import { decodePercent } from "./percent.ts";
import { isHost } from "./host.ts";
import { echoedName } from "./echoed-name.ts";
import { collectUnknown } from "./unknown-names.ts";

/**
 * Returns the path and query of a target that is a whole URL, which servers must accept (RFC 9112 §3.2.2). Returns
 * undefined if its host is not valid.
 */
export function originForm(target = "/"): string | undefined {
  const [start, host = ""] = /^https?:\/\/([^/?#]*)/i.exec(target) ?? [];
  if (start === undefined) return target;
  if (!isHost(host)) return undefined;
  const rest = target.slice(start.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Splits the target of a request at its first `?`. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf("?");
  return mark === -1 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/**
 * Parses `a=1&b=2`, without the question mark. Returns the decoded values of the `known` names, with `+` as a blank.
 * Ignores other names. Adds a violation for text that is not percent-encoded UTF-8, and for a known name that is
 * repeated.
 */
export function readQuery(
  query: string,
  known: ReadonlySet<string>,
  violations: Violation[],
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const unknown = collectUnknown(violations);
  let unreadable: Set<string> | undefined;
  let repeated: Set<string> | undefined;
  for (let start = 0; start < query.length; ) {
    const ampersand = query.indexOf("&", start);
    const end = ampersand === -1 ? query.length : ampersand;
    // Searches only the parameter: searching the whole query for each parameter would take quadratic time.
    const parameter = query.slice(start, end);
    const equals = parameter.indexOf("=");
    const rawName = equals === -1 ? parameter : parameter.slice(0, equals);
    const name = decode(rawName);
    const value = decode(equals === -1 ? "" : parameter.slice(equals + 1));
    if (name === undefined || value === undefined) {
      if (name === undefined || !known.has(name)) unknown.add(() => notEncoded(name ?? rawName));
      else if (unreadable?.has(name) !== true) {
        unreadable = (unreadable ?? new Set()).add(name);
        violations.push(notEncoded(name));
      }
    } else if (values.has(name)) {
      repeated = (repeated ?? new Set()).add(name);
    } else if (known.has(name)) {
      values.set(name, value);
    }
    start = end + 1;
  }
  unknown.finish();
  for (const field of repeated ?? [])
    violations.push({ field, rule: "repeated", message: "must not be given more than once" });
  return values;
}

function notEncoded(name: string): Violation {
  return { field: echoedName(name), rule: "encoding", message: "must be percent-encoded UTF-8" };
}

function decode(text: string): string | undefined {
  return decodePercent(text.replaceAll("+", "%20"));
}
