// Pages of a list: one more record than the page has is read, to know whether others follow.
import type { Document } from "mongodb";
import type { Pagination } from "../gen/records/v1/pagination_pb.ts";

/** Which page of a list a request wants. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

/** The stages that cut a page, newest first, out of what an index gives in this order. */
export function pageStages({ limit, offset }: PageRequest): Document[] {
  return [{ $sort: { rank: -1 } }, ...(offset === 0 ? [] : [{ $skip: offset }]), { $limit: limit + 1 }];
}

/** The rows of the page, and its pagination object. */
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
