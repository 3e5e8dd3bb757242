// The scripts that run in Redis: each touches the one key that it is given, for a cluster allows no other.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const texts = ["src", "gateway"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, folder, name), "utf8")),
);

/** The commands of the scripts in a text that name another key than the first, or one that is no literal command. */
function undeclared(text: string): string[] {
  const calls = [...text.matchAll(/redis\.p?call\(([^)]*)\)/g)].map(([call, inside = ""]) => ({ call, inside }));
  const keys = [...text.matchAll(/KEYS\[(?!1\])[^\]]*\]/g)].map(([key]) => key);
  return [
    ...calls.filter(({ inside }) => !/^'(?:TIME'$|[A-Z]+', KEYS\[1\](?:,|$))/.test(inside)).map(({ call }) => call),
    ...keys,
  ];
}

test("every command of every script has the script's one declared key, or none [RTE-08, IDM-19]", () => {
  expect(texts.flatMap(undeclared)).toEqual([]);
  expect(texts.flatMap((text) => text.match(/redis\.p?call\(/g) ?? []).length).toBeGreaterThan(8);
});

test.each([
  ["a key that the script makes", "redis.call('GET', KEYS[1] .. ':more')"],
  ["a key among the values", "redis.call('GET', ARGV[1])"],
  ["a second key", "redis.call('GET', KEYS[2])"],
  ["a command that is not in the script", "redis.call(ARGV[1], KEYS[1])"],
])("%s is seen", (_what, script) => {
  expect(undeclared(script)).not.toEqual([]);
});
