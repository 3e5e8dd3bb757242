// Served documents that are the same for every client, and rendered on the first request.

/** A document that is served under its own path. */
export interface ServedDocument {
  readonly type: string;
  /** All responses share it, so that a client that does not read its response retains no copy. */
  readonly body: Buffer;
}

/** Returns a document that `write` renders on the first request, so that it does not delay the start. */
export function lazyDocument(type: string, write: () => string | Uint8Array): ServedDocument {
  let written: Buffer | undefined;
  return {
    type,
    get body() {
      // Two calls, because Buffer.from has an overload for each type and none for both.
      if (written === undefined) {
        const made = write();
        written = typeof made === "string" ? Buffer.from(made) : Buffer.from(made);
      }
      return written;
    },
  };
}
