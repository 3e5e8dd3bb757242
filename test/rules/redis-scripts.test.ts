// The scripts that run in Redis: each touches the one key that it is given, for a cluster allows no other.
import { expect, test } from "vitest";
import { served } from "../architecture/sources.ts";
import { undeclared } from "./redis-scripts.ts";
import { declareRule } from "./rule.ts";

declareRule({
  title: "every command of every script has the script's one declared key, or none [RTE-08, IDM-19]",
  sources: served,
  breaches: (sources) => sources.flatMap(({ text }) => undeclared(text)),
  bad: [
    ["a key that the script makes", "redis.call('GET', KEYS[1] .. ':more')"],
    ["a key among the values", "redis.call('GET', ARGV[1])"],
    ["a second key", "redis.call('GET', KEYS[2])"],
    ["a command that is not in the script", "redis.call(ARGV[1], KEYS[1])"],
  ],
  good: [
    ["a command on the key", "redis.call('GET', KEYS[1])"],
    ["a command without a key", "redis.call('TIME')"],
  ],
});

/** The commands of scripts in a text. */
const commands = (text: string): string[] => text.match(/redis\.p?call\(/g) ?? [];

test.each([["redis.call(1)"], ["redis.pcall(1)"]])("finds a command: %s", (text) => {
  expect(commands(text)).toHaveLength(1);
});

test("finds the Redis commands in the sources of the service", () => {
  expect(served.flatMap(({ text }) => commands(text)).length).toBeGreaterThan(8);
});
