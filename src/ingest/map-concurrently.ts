// Items that are each a write by themselves: several at a time, each with an outcome of its own.
import { duplicateIndex } from "../db/mongo.ts";
import { isGivenUp } from "../deadline.ts";
import { Failure } from "../errors.ts";
import type { Outcome } from "../db/named.ts";
import { alreadyExists } from "../db/named.ts";

/** How items are written concurrently. */
export interface Turns<Item> {
  /** How many are written at the same time. */
  readonly width: number;
  /** The values that an item reads or takes and another item may change. */
  readonly names: (item: Item) => readonly string[];
}

/**
 * Writes every item, several at a time; one that fails leaves the others untouched. Items that share a name, directly
 * or through other items, are written one after the other in their order. So the result is that of writing all items in
 * order. `follows` is true for an item after another one of its group. Rejects when MongoDB cannot serve.
 */
export async function mapConcurrently<Item>(
  items: readonly Item[],
  { width, names }: Turns<Item>,
  write: (item: Item, follows: boolean) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(items.length);
  const groups = connected(items.map(names));
  let next = 0;
  async function work(): Promise<void> {
    for (let group = groups[next++]; group !== undefined; group = groups[next++]) {
      for (const [turn, at] of group.entries()) {
        outcomes[at] = await write(items[at] as Item, turn > 0).catch((error: unknown) => ({
          failure: failureOfItem(error),
        }));
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, groups.length) }, work));
  return outcomes;
}

/** Groups the indexes of the lists so that no two groups share a name. Each group, and the groups, are in order. */
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

/** Rethrows an error that is not about the item: the caller repeats the batch, and no item is reported as rejected. */
function failureOfItem(error: unknown): Failure {
  if (error instanceof Failure && isGivenUp(error)) throw error;
  if (error instanceof Failure) return error;
  if (duplicateIndex(error) === undefined) throw error;
  return alreadyExists().failure;
}
