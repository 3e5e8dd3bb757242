// A document that is the same for everyone, and written when it is first requested.

/** A text that is served under a path of its own. */
export interface ServedText {
  readonly type: string;
  /** In UTF-8. All responses share it: a client that does not read one holds no copy. */
  readonly body: Buffer;
}

/** Written when it is first requested: an instance is up before. */
export function lazily(type: string, write: () => string): ServedText {
  let written: Buffer | undefined;
  return {
    type,
    get body() {
      written ??= Buffer.from(write());
      return written;
    },
  };
}
