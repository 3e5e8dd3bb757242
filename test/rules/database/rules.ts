// All rules of who may touch MongoDB, on one set of sources.
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { withoutAccount } from "./accounts.ts";
import { escapes } from "./escapes.ts";
import { driverValues, namedByText, writingStages } from "./names.ts";
import { madeOptions } from "./options.ts";
import { drivers, otherTexts } from "./tables.ts";
import type { Finding, Uses } from "./writes.ts";
import { usesIn } from "./writes.ts";

/** What the rules say about sources. */
export interface DatabaseUse extends Uses {
  /** Exceptions of the tables that something needs. */
  readonly needed: ReadonlySet<string>;
}

/** Where an aggregation may write: the one command that proves a credential and inserts. */
const stages = ["src/db/insert.ts"];
/** How many commands of a file have a filter that names no account, or whose account cannot be seen, and why. */
const unseen: Readonly<Record<string, { readonly times: number; readonly why: string }>> = {
  "src/contacts/search.ts": {
    times: 2,
    why: "the stages come from functions, which are given the scope; the tests run all of them",
  },
  "src/ingest/bulk.ts": {
    times: 1,
    why: "the notes of all other accounts are counted, before the index that they share is dropped",
  },
  "src/sessions/transcript-preparation.ts": {
    times: 1,
    why: "the transcripts that an earlier release stored are those of all accounts",
  },
};

/** Every rule; the tables' exceptions are taken out. */
export function checkDatabaseUse(sources: readonly Tree[]): DatabaseUse {
  const uses = usesIn(sources);
  const needed = new Set<string>();
  /** Whether an exception covers a finding, which is noted. */
  const covered = (exception: string | undefined): boolean => {
    if (exception !== undefined) needed.add(exception);
    return exception !== undefined;
  };
  const beginning = (all: readonly string[], { path }: Finding): string | undefined =>
    all.find((one) => path.startsWith(one));
  const findings = [
    ...uses.findings,
    ...madeOptions(sources),
    ...escapes(sources),
    ...writingStages(sources).filter((one) => !covered(beginning(stages, one))),
    ...driverValues(sources).filter((one) => !covered(beginning(Object.keys(drivers), one))),
    ...withoutAccount(sources).filter((one, _, all) => !isExpected(one, all)),
    ...namedByText(sources).filter((one) => !isOtherText(one, needed)),
  ];
  return { ...uses, findings, needed };
}

/** As many as the table has: with one more, all of the file are shown. */
function isExpected({ path }: Finding, all: readonly Finding[]): boolean {
  return all.filter((one) => one.path === path).length === unseen[path]?.times;
}

function isOtherText({ path, problem }: Finding, needed: Set<string>): boolean {
  if (path === "src/db/collections.ts") return true;
  const text = /"(.*)"$/.exec(problem)?.[1] ?? "";
  const row = otherTexts.find((one) => path.startsWith(one.path) && one.texts.includes(text));
  if (row !== undefined) needed.add(`${row.path}: ${text}`);
  return row !== undefined;
}
