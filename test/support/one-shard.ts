// Checks that every MongoDB command of a service under test names one account, so that a mongos needs one shard.
import type { CommandStartedEvent } from "mongodb";
import { MongoClient } from "mongodb";
import { afterAll, expect } from "vitest";
import { appName } from "../../src/db/mongo.ts";
import { createShardWatch } from "../fixtures/databases/shards.ts";

/** The patched client prototype, shared by all test files of a worker. */
interface Watched {
  taken?: () => string[];
}

const client: MongoClient & Watched = MongoClient.prototype;

/** Returns and clears the commands found so far. */
const takeScattered = (client.taken ??= watch());

/** Watches the service's clients. Commands that a test sends through such a client do not count. */
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

/** Whether the innermost of our stack frames, except for the connection code, is in a test. */
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
