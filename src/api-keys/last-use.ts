// When API keys were used last: noted in memory, and written beside the requests, at most once a minute for each key.
import type { Binary, Db } from "mongodb";
import { collections } from "../db/collections.ts";
import { createBatchWriter } from "../db/batch-writer.ts";
import type { OnTrouble } from "../db/repeat.ts";
import { write } from "../db/write.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { keep } from "../remembered.ts";
import type { ApiKeyDocument } from "./store.ts";

/** Notes the use of keys. */
export interface LastUse {
  /** Notes that the key with this hash was used just now. */
  note(hash: Binary): void;
  /** Writes what is noted and not yet written. Rejects when MongoDB cannot. */
  flush(): Promise<void>;
  /** Writes it for a stop: tries until `until`, and reports as lost what MongoDB does not take. */
  close(until: number): Promise<void>;
}

const precisionMs = 60_000;
const writeAfterMs = 1_000;

/** The uses of the keys of a database. A use that was noted less than a second before a crash is lost. */
export function createLastUse(db: Db, onTrouble: OnTrouble): LastUse {
  const keys = db.collection<ApiKeyDocument>(collections.apiKeys);
  /** When the use of a key was noted, by its hash: until a minute later it need not be noted again. */
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
      keep(noted, name, now);
      uses.add({ hash, at: new Date() });
    },
    flush: uses.flush,
    close: uses.close,
  };
}
