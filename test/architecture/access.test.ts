// Data, credentials and settings are reached through the one place that guards them.
import { expect, test } from "vitest";
import type { Source } from "./sources.ts";
import { handWritten } from "./sources.ts";

test("only the guards grant the right to write", () => {
  const granting = handWritten.filter(
    ({ path, text }) => /\bgrantWrites\b/.test(text) && !/^src\/(?:guards\/|call\/scope\.ts)/.test(path),
  );
  expect(granting.map(({ path }) => path)).toEqual([]);
});

test("of the service, only config and the embedded parts read the environment", () => {
  const reading = handWritten
    .filter(({ path, text }) => /process\.env/.test(text) && !/^(examples|fixtures|drills|bench)\//.test(path))
    .map(({ path }) => path);
  expect(reading.sort()).toEqual(["src/cli/records.ts", "src/embedded/parts.ts", "src/main.ts"]);
});

/** Look-ups of credentials outside a recognizer's `lookUp`, which the composition root passes in. */
function looseLookUps({ path, text }: Source): string[] {
  if (!/^src\/(?!app[./]|embedded\/|cli\/)/.test(path)) return [];
  const lines = text
    .split("\n")
    .filter((line) => /\b(?:keys|apiKeys|tokens|signIn)\??\.(?:find|identify)\(|\bfind\(cookies[,)]/.test(line));
  return lines
    .filter(
      (line) =>
        !/\blookUp: \(deadline(?:: Deadline)?\) => /.test(line) &&
        !/^\s*(?:async )?find\(cookies, deadline\) \{$/.test(line),
    )
    .map((line) => `${path}: ${line.trim()}`);
}

test("a credential of any kind is looked up by a recognizer, which limits look-ups that fail [RTE-20]", () => {
  expect(handWritten.flatMap(looseLookUps)).toEqual([]);
  expect(
    looseLookUps({ path: "src/mcp/endpoint.ts", text: "const facts = await tokens.identify(token);" }),
  ).toHaveLength(1);
  expect(
    looseLookUps({
      path: "src/dashboard/surface.ts",
      text: 'const found = await signIn.find(inbound.header("cookie"));',
    }),
  ).toHaveLength(1);
});
