// Concurrent writes of a batch: of its items, each with its own outcome, or of groups that succeed together.
import { duplicateIndex } from "../db/mongo.ts";
import { Failure } from "../call/errors.ts";
import type { Outcome } from "../db/named.ts";
import { alreadyExists } from "../db/named.ts";

/** The HTTP statuses of failures that concern one item. Others concern the request or the service. */
const ofItems: ReadonlySet<number> = new Set([404, 409, 422]);

/** Options of concurrent writes. */
export interface ConcurrencyOptions<Item> {
  /** The maximum number of items that are written concurrently. */
  readonly width: number;
  /** Returns the values that an item reads or claims, and another item may change. */
  readonly names: (item: Item) => readonly string[];
}

/**
 * Writes all items, several concurrently. A failed item does not affect the others. Items that share a name, directly
 * or through other items, are written in sequence. The result therefore equals that of writing all items in order.
 * `follows` is true if the item follows another one of its group.
 *
 * Rejects if an error does not concern one item, as when MongoDB is unavailable. It then starts no further items and
 * waits for those under way, so that the caller can repeat the batch.
 */
export async function mapConcurrently<Item>(
  items: readonly Item[],
  { width, names }: ConcurrencyOptions<Item>,
  write: (item: Item, follows: boolean) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(items.length);
  await eachConcurrently(connected(items.map(names)), width, async (group, isEnded) => {
    for (const [turn, at] of group.entries()) {
      if (isEnded()) return;
      try {
        outcomes[at] = await write(items[at] as Item, turn > 0);
      } catch (error) {
        const failure = failureOfItem(error);
        if (failure === undefined) throw error;
        outcomes[at] = { failure };
      }
    }
  });
  return outcomes;
}

/**
 * Runs the work for all groups, `width` of them concurrently. Rejects with the first error. It then starts no further
 * groups and waits for those under way, which can see that by `isEnded`.
 */
export async function eachConcurrently<Group>(
  groups: readonly Group[],
  width: number,
  work: (group: Group, isEnded: () => boolean) => Promise<void>,
): Promise<void> {
  let next = 0;
  let ended: { readonly error: unknown } | undefined;
  async function run(): Promise<void> {
    while (ended === undefined && next < groups.length) {
      await work(groups[next++] as Group, () => ended !== undefined).catch((error: unknown) => {
        ended ??= { error };
      });
    }
  }
  await Promise.all(Array.from({ length: width }, run));
  if (ended !== undefined) throw ended.error;
}

/** Groups the indexes of the lists so that no two groups share a name. The groups and their members are in order. */
function connected(lists: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const parent = lists.map((_, at) => at);
  const rootOf = (at: number): number => {
    let root = at;
    while (parent[root] !== root) root = parent[root] = parent[parent[root] as number] as number;
    return root;
  };
  const firstOf = new Map<string, number>();
  for (const [at, list] of lists.entries()) {
    for (const name of list) {
      const first = firstOf.get(name);
      if (first === undefined) firstOf.set(name, at);
      else parent[rootOf(at)] = rootOf(first);
    }
  }
  const groups = new Map<number, number[]>();
  for (const at of lists.keys()) {
    const group = groups.get(rootOf(at));
    if (group === undefined) groups.set(rootOf(at), [at]);
    else group.push(at);
  }
  return [...groups.values()];
}

/** Returns the failure of an item, or undefined for an error that ends the batch. */
function failureOfItem(error: unknown): Failure | undefined {
  if (duplicateIndex(error) !== undefined) return alreadyExists().failure;
  return error instanceof Failure && ofItems.has(error.kind.http) ? error : undefined;
}
