// A document that is the same for everyone, and written when it is first requested.

/** A text that is served under a path of its own. */
export interface ServedText {
  readonly type: string;
  readonly text: string;
}

/** Written when it is first requested: an instance is up before. */
export function lazily(type: string, write: () => string): ServedText {
  let written: string | undefined;
  return {
    type,
    get text() {
      written ??= write();
      return written;
    },
  };
}
