// Walks through the pages of a list.
import type { Page } from "./types.ts";

/**
 * Every record of a list from `offset` on, page by page, each page requested when it is needed. The list is cut as it
 * is at each request: records that are added or removed meanwhile can be met twice or missed.
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
    // A walk that does not move on would never end.
    offset = next !== null && next > offset ? next : null;
  }
}
