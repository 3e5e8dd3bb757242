// Items that are each a write by themselves: several at a time, each with an outcome of its own.
import { duplicateIndex } from "../db/mongo.ts";
import { Failure } from "../errors.ts";
import type { Outcome } from "../db/named.ts";
import { alreadyExists } from "../db/named.ts";

/** The statuses of failures that say what is wrong with an item; any other is about the request or the service. */
const ofItems: ReadonlySet<number> = new Set([404, 409, 422]);

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
 * order. `follows` is true for an item after another one of its group. Rejects where an item ends the batch, as when
 * MongoDB cannot serve: nothing is begun any more then, and nothing is under way, so that the caller can repeat it.
 */
export async function mapConcurrently<Item>(
  items: readonly Item[],
  { width, names }: Turns<Item>,
  write: (item: Item, follows: boolean) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(items.length);
  const groups = connected(items.map(names));
  let next = 0;
  let ended: { readonly error: unknown } | undefined;
  async function work(): Promise<void> {
    for (let group = groups[next++]; group !== undefined; group = groups[next++]) {
      for (const [turn, at] of group.entries()) {
        if (ended !== undefined) return;
        try {
          outcomes[at] = await write(items[at] as Item, turn > 0);
        } catch (error) {
          const failure = failureOfItem(error);
          if (failure === undefined) ended ??= { error };
          else outcomes[at] = { failure };
        }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, groups.length) }, work));
  if (ended !== undefined) throw ended.error;
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

/** What an item is rejected for; undefined for an error that is not about it, and ends the batch. */
function failureOfItem(error: unknown): Failure | undefined {
  if (duplicateIndex(error) !== undefined) return alreadyExists().failure;
  return error instanceof Failure && ofItems.has(error.kind.http) ? error : undefined;
}
