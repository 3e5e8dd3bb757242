// Pages of a list: reads one record more than the page has, to detect further pages.
import type { Document } from "mongodb";
import type { Pagination } from "../gen/records/v1/pagination_pb.ts";

/** The limit and offset of a requested page. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

/** The maximum number of documents, newest first, that are checked against a condition without an index. */
export const maxChecked = 10_000;

/**
 * Returns the stages that cut a page, newest first or with `order` 1 oldest first, from rows in the order of an index.
 * `narrowing` stages, such as those of `checkStages`, drop rows before the page is cut.
 */
export function pageStages(
  { limit, offset }: PageRequest,
  narrowing: readonly Document[] = [],
  order: 1 | -1 = -1,
): Document[] {
  const skip = offset === 0 ? [] : [{ $skip: offset }];
  return [{ $sort: { rank: order } }, ...narrowing, ...skip, { $limit: limit + 1 }];
}

/**
 * Returns the stages that filter the newest `limit` rows by a condition without an index. The bound keeps a rare
 * condition from reading the whole account.
 */
export function checkStages(condition: Document, limit = maxChecked): Document[] {
  return Object.keys(condition).length === 0 ? [] : [{ $limit: limit }, { $match: condition }];
}

/** Returns the rows of the page, and its pagination object. */
export function cutPage<T>(
  rows: readonly T[],
  { limit, offset }: PageRequest,
): { rows: readonly T[]; pagination: Pagination } {
  const more = rows.length > limit;
  return {
    rows: more ? rows.slice(0, limit) : rows,
    pagination: {
      $typeName: "records.v1.Pagination",
      limit,
      offset,
      hasMore: more,
      ...(more ? { nextOffset: offset + limit } : {}),
    },
  };
}
