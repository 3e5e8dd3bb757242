// Checks that every command of a service under test to MongoDB names one account, so that a mongos needs one shard.
import type { CommandStartedEvent } from "mongodb";
import { MongoClient } from "mongodb";
import { afterAll, expect } from "vitest";
import { appName } from "../../src/db/mongo.ts";
import { createShardWatch } from "../fixtures/databases/shards.ts";

/** Clients whose commands are listened to, once for all test files of a worker. */
interface Watched {
  taken?: () => string[];
}

const client: MongoClient & Watched = MongoClient.prototype;

/** Those that were found until now, which the caller checks. */
export const takeScattered = (client.taken ??= watch());

/** Of the service's clients; what a test sends by such a client itself does not count. */
function watch(): () => string[] {
  const { onCommandStarted, take } = createShardWatch();
  const emit = client.emit as (this: MongoClient, event: string, ...values: unknown[]) => boolean;
  client.emit = function (this: MongoClient, event: string, ...values: unknown[]) {
    const started = event === "commandStarted" && this.options.appName === appName;
    if (started) onCommandStarted(values[0] as CommandStartedEvent, isOfTest);
    return emit.call(this, event, ...values);
  } as typeof client.emit;
  return take;
}

/** Whether the innermost function of ours that waits for the command, beside the connection itself, is a test's. */
function isOfTest(): boolean {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = limit;
  const ours = stack
    .split("\n")
    .filter(
      (line) =>
        /\/(src|gateway|test|fixtures|drills)\/(?!support\/one-shard|db\/connection|(?:fixtures\/)?databases\/shards)/.test(
          line,
        ) && !line.includes("node_modules"),
    );
  return ours.length > 0 && !/\/(src|gateway)\//.test(ours[0] ?? "");
}

afterAll(() => {
  expect(takeScattered()).toEqual([]);
});
