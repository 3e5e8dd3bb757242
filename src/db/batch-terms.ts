// Search terms of a batch, derived before its transaction to keep the transaction's locks short.
import type { WriteScope } from "../call/scope.ts";
import { rejectInput } from "../call/errors.ts";
import { mapInPieces } from "../large/pieces.ts";
import type { Terms } from "../search/terms.ts";

/**
 * Returns the search terms of each item, in order. MongoDB writes an index entry for each term, so the time of a batch
 * depends on them. Fails with INVALID_REQUEST if several items have more than `maxTerms` terms together. A single item
 * is always accepted.
 */
export function termsOfBatch<Item>(
  { deadline }: Pick<WriteScope, "deadline">,
  items: readonly Item[],
  maxTerms: number | undefined,
  termsOf: (item: Item) => Terms,
): Promise<Terms[]> {
  let count = 0;
  return mapInPieces(items, deadline, (item, at) => {
    const terms = termsOf(item);
    count += terms.searchTerms.length;
    if (maxTerms !== undefined && at > 0 && count > maxTerms) rejectText(maxTerms, at);
    return terms;
  });
}

function rejectText(maxTerms: number, fit: number): never {
  const message = `a batch must have at most ${maxTerms.toLocaleString("en")} search terms; the first ${fit.toLocaleString("en")} items fit, so send the rest in other batches`;
  return rejectInput([{ field: "", rule: "search_terms", message }]);
}
