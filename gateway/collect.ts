// Collects a body as it comes: in one piece of memory, for a piece of a single byte costs a hundred more to keep.

/** The bytes that have come so far. */
export interface Collected {
  add(piece: Buffer): void;
  /** All of them, in their order. */
  bytes(): Buffer;
}

/** Nothing yet. Pieces are copied, so that none is kept; the one piece of a small body is taken as it is. */
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
