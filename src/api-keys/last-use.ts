// Records when API keys were last used: in memory, and in the database at most once a minute for each key.
import type { Binary, Db } from "mongodb";
import { collections } from "../db/collections.ts";
import { createBatchWriter } from "../db/batch-writer.ts";
import type { OnTrouble } from "../db/run-periodically.ts";
import { write } from "../db/write.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import { setBounded } from "../call/bounded-cache.ts";
import type { ApiKeyDocument } from "./store.ts";

/** The recorder of uses. */
export interface LastUse {
  /** Records that the key with this hash has just been used. */
  note(hash: Binary): void;
  /** Writes all recorded uses. Rejects if MongoDB is unavailable. */
  flush(): Promise<void>;
  /**
   * Writes the recorded uses when the instance stops. Tries until `until`, in milliseconds of `performance.now()`, and
   * reports the uses that are lost.
   */
  close(until: number): Promise<void>;
}

const precisionMs = 60_000;
const writeAfterMs = 1_000;

/**
 * Creates the recorder. A crash loses the uses of the last second. If MongoDB is unavailable for more than 20 seconds,
 * uses are lost too.
 */
export function createLastUse(db: Db, onTrouble: OnTrouble): LastUse {
  const keys = db.collection<ApiKeyDocument>(collections.apiKeys);
  /** When the use of a key was last recorded, by the key's hash. It is recorded again after a minute. */
  const noted = new Map<string, number>();
  const uses = createBatchWriter<{ readonly hash: Binary; readonly at: Date }>(
    writeAfterMs,
    (used) => {
      return write(db.client, deadlineIn(deadlineMs), (options, fence) => {
        const updates = used.map(({ hash, at }) => ({
          updateOne: { filter: { _id: hash, active: true as const, ...fence }, update: { $max: { last_used_at: at } } },
        }));
        return keys.bulkWrite(updates, { ordered: false, comment: "watch", ...options });
      });
    },
    (error) => onTrouble("the last use of API keys cannot be written", error),
  );

  return {
    note(hash) {
      const name = hash.toString("base64");
      const now = performance.now();
      if (now - (noted.get(name) ?? -Infinity) < precisionMs) return;
      setBounded(noted, name, now);
      uses.add({ hash, at: new Date() });
    },
    flush: uses.flush,
    close: uses.close,
  };
}
