// Keeps secrets out of what the doctor prints, whoever put them into a message.
import type { Config } from "../../config.ts";

/**
 * Where a database is: scheme, hosts and database, without credentials and without options, which may hold some as
 * well.
 */
export function shownUri(uri: string): string {
  return (uri.split(/[?#]/, 1)[0] ?? "").replace(/^([a-z+]+:\/\/)([^/?#]*@)?/i, "$1");
}

/** Takes every secret of the configuration out of a text. */
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
  // A shorter one is in ordinary words, which would be made unreadable.
  const secrets = held
    .filter((secret): secret is string => secret !== undefined && secret.length >= 4)
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}

/** The password of a URI. */
function passwordsOf(uri: string | undefined): string[] {
  return spellings(/^[a-z+]+:\/\/[^/?#@:]*:([^/?#]*)@/i.exec(uri ?? "")?.[1]);
}

/** A password as it is written in a URI and as it is meant. */
function spellings(written: string | undefined): string[] {
  if (written === undefined || written === "") return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}
