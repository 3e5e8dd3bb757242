// Pagination: iterates over the records of a list.
import type { Page } from "./types.ts";

/**
 * Yields every record of a list from `offset` on, and requests each page when it is needed. Each page shows the list at
 * the time of its request. If records are added or removed meanwhile, a record can be repeated or missed.
 */
export async function* everyRecord<Query extends { offset?: number }, Item>(
  page: (query: Query) => Promise<Page<Item>>,
  query: Query,
): AsyncGenerator<Item, void, undefined> {
  let offset: number | null = query.offset ?? 0;
  while (offset !== null) {
    const { data, pagination }: Page<Item> = await page({ ...query, offset });
    yield* data;
    const next: number | null = pagination.has_more ? pagination.next_offset : null;
    // An offset that does not advance would repeat a page forever.
    offset = next !== null && next > offset ? next : null;
  }
}
