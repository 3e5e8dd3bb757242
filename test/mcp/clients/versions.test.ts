// The guide's table of the clients names each version and revision that is tried, and no other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientKinds } from "../../../scripts/mcp-clients/kinds.ts";

test("docs/mcp.md lists the clients with their versions and revisions", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/mcp.md"), "utf8");
  const [, section = ""] = page.split("## Clients that are tried\n");
  const rows = [...section.matchAll(/^\| (.+) \| (\d\S*) \| (.+) \|$/gm)].flatMap(([, name, version, revisions = ""]) =>
    revisions.split(", ").map((revision) => ({ name, version, revision })),
  );
  expect(rows).toEqual(clientKinds.map(({ name, version, revision }) => ({ name, version, revision })));
});
