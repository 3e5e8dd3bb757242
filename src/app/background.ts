// Background tasks of an instance, which run whether or not requests arrive.
import type { MongoClient } from "mongodb";
import type { Logger } from "pino";
import { endAbandonedTransactions } from "../db/abandoned.ts";
import { previousTermsOf } from "../db/previous-terms.ts";
import type { ServiceWatch } from "../observability/observability.ts";
import type { Services } from "./services.ts";

/**
 * Starts the tasks. Returns a function that stops them and writes all pending items. If MongoDB is unavailable, it
 * retries until `until`, in milliseconds of `performance.now()`, and then reports the items as lost.
 */
export function startBackground(
  client: MongoClient,
  services: Services,
  { trouble }: ServiceWatch,
  log: Logger,
): (until: number) => Promise<void> {
  const tasks = [
    previousTermsOf(client).follow(trouble("search_terms")),
    endAbandonedTransactions(client, trouble("abandoned_transactions")),
    services.erasures.follow(trouble("erasure")),
    services.bulkLoading.follow(
      (what, of) => log.warn({ index: what, of }, "search index, for a large import or erasure"),
      trouble("search_index"),
    ),
    services.prepareTranscripts(trouble("transcript_terms")),
  ];
  return async (until) => {
    for (const task of tasks) task.stop();
    const { lastUse, usage, audit, erasures } = services;
    await Promise.allSettled([...[lastUse, usage, audit].map((one) => one.close(until)), erasures.idle()]);
  };
}
