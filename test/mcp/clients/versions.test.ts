// The guide names each version and revision of a client that is tried and no other, and that of the conformance suite.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientKinds } from "../../../scripts/mcp-clients/kinds.ts";
import { conformance } from "../conformance/runner.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/proof.md"), "utf8");

test("docs/proof.md lists the clients with their versions and revisions", () => {
  const [, rest = ""] = page.split("## Clients of MCP\n");
  const [section = ""] = rest.split("\n## ");
  const rows = [...section.matchAll(/^\| (.+) \| (\d\S*) \| (.+) \|$/gm)].flatMap(([, name, version, revisions = ""]) =>
    revisions.split(", ").map((revision) => ({ name, version, revision })),
  );
  expect(rows).toEqual(clientKinds.map(({ name, version, revision }) => ({ name, version, revision })));
});

test("docs/proof.md names the conformance suite with its version", () => {
  expect(page).toContain(`\`${conformance.name}\` ${conformance.version}`);
});
