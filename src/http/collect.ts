// Collects the pieces of a body in one buffer: a buffer for each one-byte piece would take a hundred bytes.

/** The bytes received so far. */
export interface Collected {
  add(piece: Buffer): void;
  /** Returns all bytes in order. */
  bytes(): Buffer;
}

/**
 * Creates an empty collection. Copies the pieces so that none is retained. The only piece of a small body is used as it
 * is.
 */
export function collect(): Collected {
  let held: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add(piece) {
      if (length === 0) {
        held = piece;
        length = piece.length;
        return;
      }
      if (length + piece.length > held.length) {
        const larger = Buffer.allocUnsafe(Math.max(length + piece.length, 2 * held.length));
        held.copy(larger, 0, 0, length);
        held = larger;
      }
      piece.copy(held, length);
      length += piece.length;
    },
    bytes: () => held.subarray(0, length),
  };
}
