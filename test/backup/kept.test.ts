// The decisions about each collection in a backup: the code's and those of docs/backup.md are the same.
import { expect, test } from "vitest";
import { backupRules } from "../../src/backup/kept.ts";
import { collections } from "../../src/db/collections.ts";
import { allCollections } from "../../src/app/services.ts";
import { readPage } from "../docs/pages.ts";

const rows = [...readPage("docs/backup.md").text.matchAll(/^\| `(\w+)` \| (yes|no) \| (.*?)\s*\|$/gm)];

test("the guide and the code agree on which collections a backup contains [OPS-62]", () => {
  const decided = Object.entries(backupRules).map(([name, rule]) => [name, "kept" in rule ? "yes" : "no"]);
  expect(new Map(rows.map(([, name, kept]) => [name, kept]))).toEqual(new Map(decided as [string, string][]));
  expect(new Set(decided.map(([name]) => name))).toEqual(new Set(Object.values(collections)));
  // What is left out has a reason.
  for (const [, name, kept, remark = ""] of rows) if (kept === "no") expect(remark, name).not.toBe("");
});

test("the backup of an account contains every collection of the account, except those with a reason [OPS-62]", () => {
  const ofAccounts = allCollections.flatMap(({ collection, erasure }) => (erasure === undefined ? [] : [collection]));
  const leftOut = ofAccounts.filter((name) => {
    const rule = backupRules[name as keyof typeof backupRules];
    return !("kept" in rule) || rule.kept !== "account";
  });
  expect(leftOut.sort()).toEqual(["dashboard_sessions", "idempotency", "request_counts", "restores"]);
});
