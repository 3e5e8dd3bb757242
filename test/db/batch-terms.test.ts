// Search terms of a batch: derived in pieces, and limited in number.
import { expect, test } from "vitest";
import { termsOfBatch } from "../../src/db/batch-terms.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Failure } from "../../src/call/errors.ts";
import { mapInPieces } from "../../src/large/pieces.ts";

const deadline = deadlineIn(60_000);

/** As many terms as the item says. */
const termsOf = (count: number) => ({
  searchTerms: Array.from({ length: count }, (_, at) => `t${at}`),
  searchText: "",
});

/** Keeps the processor for longer than a piece takes. */
function work(): void {
  for (const until = performance.now() + 6; performance.now() < until; );
}

test("several items may have as many terms as the limit; one item, or a batch without a limit, may have more [ING-04]", async () => {
  const counts = async (items: readonly number[], limit: Parameters<typeof termsOfBatch>[2]) =>
    (await termsOfBatch({ deadline }, items, limit, termsOf)).map(({ searchTerms }) => searchTerms.length);
  const limit = 1_000;
  expect(await counts([600, 400], limit)).toEqual([600, 400]);
  expect(await counts([1_001], limit)).toEqual([1_001]);
  expect(await counts([600, 600], undefined)).toEqual([600, 600]);
  await expect(counts([300, 300, 401], limit)).rejects.toMatchObject({
    violations: [
      {
        field: "",
        rule: "search_terms",
        message:
          "a batch must have at most 1,000 search terms; the first 2 items fit, so send the rest in other batches",
      },
    ],
  });
});

test("others have their turn between two pieces of a batch, and nothing is derived after the deadline [OPS-15]", async () => {
  const order: string[] = [];
  setImmediate(() => order.push("another"));
  const mapped = mapInPieces(["a", "b"], deadline, (item, at) => {
    order.push(item);
    work();
    return `${item}${at}`;
  });
  expect(await mapped).toEqual(["a0", "b1"]);
  expect(order).toEqual(["a", "another", "b"]);

  const begun: number[] = [];
  const late = mapInPieces([1, 2, 3], deadlineIn(6), (item) => {
    begun.push(item);
    work();
  });
  await expect(late).rejects.toBeInstanceOf(Failure);
  expect(begun).toEqual([1]);
});
