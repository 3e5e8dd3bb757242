// In-memory overlay on stored records that applies the items of a batch in order before anything is written.
import type { RecordName, KnownRecord, Outcome } from "./named.ts";
import { alreadyExists } from "./named.ts";

/** A record that a batch changes: its stored state, its new state, and the items that change it. */
export interface Changed<T> {
  readonly before: T | undefined;
  readonly record: T;
  readonly items: readonly number[];
}

/** An overlay on the stored records. */
export interface BatchOverlay<T> {
  /** Applies an item. `recordOf` creates its record from the current one of this name. */
  put(at: number, name: RecordName, recordOf: (before: T | undefined) => T): Outcome;
  changed(): Iterable<Changed<T>>;
}

/**
 * Creates an overlay on the records that the items touch. A record of another kind only conflicts with items that have
 * its id.
 */
export function createBatchOverlay<T extends KnownRecord & { readonly kind?: string }>(
  found: readonly T[],
  kind: string | undefined,
): BatchOverlay<T> {
  const isOurs = (record: T): boolean => kind === undefined || record.kind === kind;
  const before = new Map(found.map((record) => [record._id.toHexString(), record]));
  const byId = new Map(before);
  const byExternalId = new Map(
    found
      .filter(isOurs)
      .flatMap((record) => (record.external_id === undefined ? [] : [[record.external_id, record] as const])),
  );
  const changes = new Map<string, { record: T; items: number[] }>();

  function recordNamed({ id, externalId }: RecordName): T | undefined {
    if (id !== undefined) return byId.get(id.toLowerCase());
    return externalId === undefined ? undefined : byExternalId.get(externalId);
  }

  return {
    put(at, name, recordOf) {
      const known = recordNamed(name);
      const ours = known !== undefined && isOurs(known) ? known : undefined;
      const record = recordOf(ours);
      if (known !== ours) return alreadyExists();
      const { _id, external_id } = record;
      const id = _id.toHexString();
      const holder = external_id === undefined ? undefined : byExternalId.get(external_id);
      if (holder !== undefined && !holder._id.equals(_id)) return alreadyExists();
      if (ours?.external_id !== undefined) byExternalId.delete(ours.external_id);
      if (external_id !== undefined) byExternalId.set(external_id, record);
      byId.set(id, record);
      const items = changes.get(id)?.items ?? [];
      items.push(at);
      changes.set(id, { record, items });
      return { id: _id };
    },
    *changed() {
      for (const [id, change] of changes) yield { ...change, before: before.get(id) };
    },
  };
}
