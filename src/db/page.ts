// Pages of a list: reads one record more than the page has, to detect further pages.
import type { Document } from "mongodb";
import type { Pagination } from "../gen/records/v1/pagination_pb.ts";

/** The page that a request wants. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

/** Returns the stages that cut a page, newest first, from rows in the order of an index. */
export function pageStages({ limit, offset }: PageRequest): Document[] {
  return [{ $sort: { rank: -1 } }, ...(offset === 0 ? [] : [{ $skip: offset }]), { $limit: limit + 1 }];
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
