// Served documents that are the same for every client, and rendered on the first request.

/** A text that is served under its own path. */
export interface ServedText {
  readonly type: string;
  /** In UTF-8. All responses share it, so that a client that does not read its response retains no copy. */
  readonly body: Buffer;
}

/** Returns a document that `write` renders on the first request, so that it does not delay the start. */
export function lazyText(type: string, write: () => string): ServedText {
  let written: Buffer | undefined;
  return {
    type,
    get body() {
      written ??= Buffer.from(write());
      return written;
    },
  };
}
