// Table of who claims what in a backup, with the least memory: a backup can have millions of documents.

const words = 2;
const firstCapacity = 4_096;

/** Creates an empty table: open addressing, at most half full. The digests are evenly distributed. */
export function createHolders() {
  let capacity = firstCapacity;
  let count = 0;
  let keys = new BigUint64Array(capacity * words);
  let holders = new BigUint64Array(capacity * words);

  /** Returns the position of a key, or the free position for it. No digest begins with 8 zero bytes. */
  function placeOf(first: bigint, second: bigint): number {
    let place = Number(first & BigInt(capacity - 1)) * words;
    while (keys[place] !== 0n && (keys[place] !== first || keys[place + 1] !== second))
      place = (place + words) % keys.length;
    return place;
  }

  function put(place: number, key: readonly [bigint, bigint], holder: readonly [bigint, bigint]): void {
    keys.set(key, place);
    holders.set(holder, place);
  }

  function grow(): void {
    const [oldKeys, oldHolders] = [keys, holders];
    capacity *= 2;
    keys = new BigUint64Array(capacity * words);
    holders = new BigUint64Array(capacity * words);
    for (let at = 0; at < oldKeys.length; at += words) {
      const key = pairAt(oldKeys, at);
      if (key[0] !== 0n) put(placeOf(...key), key, pairAt(oldHolders, at));
    }
  }

  return {
    /** Claims a key for a holder, both as digests of 16 bytes. Returns false if another holder has it. */
    claim(key: Uint8Array, holder: Uint8Array): boolean {
      const [claimed, by] = [pairOf(key), pairOf(holder)];
      const place = placeOf(...claimed);
      if (keys[place] !== 0n) return holders[place] === by[0] && holders[place + 1] === by[1];
      put(place, claimed, by);
      if (++count * 2 > capacity) grow();
      return true;
    },
  };
}

function pairOf(digest: Uint8Array): [bigint, bigint] {
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
  return [view.getBigUint64(0), view.getBigUint64(8)];
}

function pairAt(array: BigUint64Array, at: number): [bigint, bigint] {
  return [array[at] ?? 0n, array[at + 1] ?? 0n];
}
