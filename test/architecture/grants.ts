// Who grants the right to write, and who looks up a credential.
import type { Source } from "./sources.ts";

/** The uses of the guards' grant elsewhere. */
export function grantsElsewhere(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path, text }) => /\bgrantWrites\b/.test(text) && !/^src\/(?:guards\/|call\/scope\.ts)/.test(path))
    .map(({ path }) => path);
}

/** Look-ups of credentials outside a recognizer's `lookUp`, which the composition root passes in. */
export function looseLookUps({ path, text }: Source): string[] {
  if (!/^src\/(?!app[./]|embedded\/|cli\/)/.test(path)) return [];
  const lines = text
    .split("\n")
    .filter((line) => /\b(?:keys|apiKeys|tokens|signIn)\??\.(?:find|identify)\(|\bfind\(cookies[,)]/.test(line));
  return lines
    .filter(
      (line) =>
        !/\blookUp: \(deadline(?:: Deadline)?\) => /.test(line) &&
        !/^\s*(?:async )?find\(cookies, deadline\) \{$/.test(line),
    )
    .map((line) => `${path}: ${line.trim()}`);
}
