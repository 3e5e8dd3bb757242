// Removes secrets from the doctor's output, whichever library put them into a message.
import type { Config } from "../../config/config.ts";

/**
 * Returns the scheme, hosts and database of a URI, without credentials and without options, which can also contain
 * secrets. If a password is not percent-encoded, nobody can say where it ends, and only the scheme is shown.
 */
export function shownUri(uri: string): string {
  const bare = uri.replace(/^([a-z+]+:\/\/)([^/?#@]*@)?/i, "$1");
  if (bare.includes("@")) return `${/^[a-z+]+:\/\//i.exec(uri)?.[0] ?? ""}…`;
  return bare.split(/[?#]/, 1)[0] ?? "";
}

/** Returns a function that replaces every secret of the configuration in a text. */
export function createRedaction(
  { mongodbUri, redisUrl, oidc, serviceTokens, sessionSecrets }: Config,
  ...more: readonly (string | undefined)[]
): (text: string) => string {
  const held = [
    ...passwordsOf(mongodbUri),
    ...passwordsOf(redisUrl),
    ...spellings(/[?&]sentinelPassword=([^&]*)/.exec(redisUrl ?? "")?.[1]),
    oidc?.clientSecret,
    ...(serviceTokens ?? []),
    ...(sessionSecrets ?? []),
    ...more,
  ];
  // Shorter secrets are parts of ordinary words, which would become unreadable.
  const secrets = held
    .filter((secret): secret is string => secret !== undefined && secret.length >= 4)
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}

/** Returns the spellings of the password in a URI, which ends at the last `@` if it is not percent-encoded. */
function passwordsOf(uri: string | undefined): string[] {
  return spellings(/^[a-z+]+:\/\/[^:@]*:([\s\S]*)@/i.exec(uri ?? "")?.[1]);
}

/** Returns a password as written in a URI, and decoded. */
function spellings(written: string | undefined): string[] {
  if (written === undefined || written === "") return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}
