// Runs a command that the service sent once more with explain, and boils the answer down to what was examined where.
import type { Document, MongoClient } from "mongodb";

/** One read of a collection. */
export interface ExaminedRead {
  readonly collection: string;
  /** The index that was scanned; "" where there was none. */
  readonly index: string;
  readonly keys: number;
  readonly documents: number;
}

/** What a command examined. */
export interface Examined {
  /** Whether anything of its collection had to be sorted in memory. */
  readonly sorts: boolean;
  /** Its own collection first, then those of each `$unionWith`, in order. */
  readonly reads: readonly ExaminedRead[];
}

/**
 * Explains an aggregation. For what a `$unionWith` reads MongoDB 6.0 tells the plan and not the counts, so its pipeline
 * is run as a command of its own.
 */
export async function explain(client: MongoClient, command: Document): Promise<Examined> {
  const collection = String(command["aggregate"]);
  const pipeline = command["pipeline"] as Document[];
  const db = client.db();
  const run = async (on: string, stages: readonly Document[], hint: unknown): Promise<Document> =>
    db.command(
      {
        explain: { aggregate: on, pipeline: stages, cursor: {}, ...(hint === undefined ? {} : { hint }) },
        verbosity: "executionStats",
      },
      {},
    );
  const own = pipeline.slice(0, unionAt(pipeline));
  const first = await run(collection, own.length === 0 ? pipeline : own, command["hint"]);
  const reads = [readOf(collection, first)];
  let sorts = sortsIn(first);
  for (const stage of pipeline) {
    const union = stage["$unionWith"] as { coll: string; pipeline: Document[] } | undefined;
    if (union === undefined) continue;
    const answer = await run(union.coll, union.pipeline, undefined);
    reads.push(readOf(union.coll, answer));
    sorts ||= sortsIn(answer);
  }
  return { sorts, reads };
}

function unionAt(pipeline: readonly Document[]): number {
  const at = pipeline.findIndex((stage) => "$unionWith" in stage);
  return at === -1 ? pipeline.length : at;
}

function readOf(collection: string, answer: Document): ExaminedRead {
  const stats = statsOf(answer);
  const indexes = [...JSON.stringify(stats).matchAll(/"indexName":"([^"]*)"/g)].map(([, name]) => name);
  return {
    collection,
    index: indexes[0] ?? "",
    keys: Number(stats["totalKeysExamined"]),
    documents: Number(stats["totalDocsExamined"]),
  };
}

/** Whether the plan that was run sorts, in its own stages or in one of the aggregation behind them. */
function sortsIn(answer: Document): boolean {
  const behind = (answer["stages"] as Document[] | undefined) ?? [];
  return /"stage":"SORT/i.test(JSON.stringify(statsOf(answer))) || behind.some((stage) => "$sort" in stage);
}

function statsOf(answer: Document): Document {
  return (answer["executionStats"] ?? (answer["stages"] as Document[])[0]?.["$cursor"]?.executionStats) as Document;
}
