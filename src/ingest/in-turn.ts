// Items that are each a write by themselves: several at a time, each with an outcome of its own.
import { duplicateIndex } from "../db/mongo.ts";
import { Failure } from "../errors.ts";
import type { KnownRecord, Outcome } from "./batch.ts";
import { alreadyExists } from "./batch.ts";

/** Writes every item, `width` at a time; one that fails leaves the others untouched. Rejects when MongoDB cannot serve. */
export async function inTurn<Item, T extends KnownRecord>(items: readonly Item[], width: number, write: (item: Item) => Promise<Outcome<T>>): Promise<Outcome<T>[]> {
  const outcomes = new Array<Outcome<T>>(items.length);
  let next = 0;
  async function work(): Promise<void> {
    for (let at = next++; at < items.length; at = next++) {
      outcomes[at] = await write(items[at] as Item).catch((error: unknown) => ({ failure: failureOfItem(error) }));
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return outcomes;
}

function failureOfItem(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (duplicateIndex(error) === undefined) throw error;
  return alreadyExists().failure;
}
