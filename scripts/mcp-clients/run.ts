// Tries clients one by one against a running instance, and formats a table of the outcomes.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { ClientKind, McpClient } from "./client.ts";
import { journeyOf } from "./journey.ts";
import type { Verdict } from "./checker.ts";
import { checkJourney } from "./checker.ts";
import type { BrowserUser, Place } from "./user.ts";
import { createBrowserUser } from "./user.ts";
import { toolCalls } from "./tool-calls.ts";

/** The outcome of a client's journey. */
export interface Row {
  readonly kind: ClientKind;
  readonly verdict: Verdict;
}

/** Installs a client; returns why it cannot be tried here, or undefined if it can. */
export function whyLeftOut(kind: ClientKind, cacheDir: string): string | undefined {
  try {
    const missing = kind.missing();
    if (missing === undefined) kind.install(cacheDir);
    return missing;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function labelOf({ name, version, revision }: ClientKind): string {
  return `${name} ${version} (${revision})`;
}

/** Takes a client through the journey, with this user or a new one. */
export async function tryClient(
  kind: ClientKind,
  place: Place,
  { cacheDir, folder }: { readonly cacheDir: string; readonly folder: string },
  user: BrowserUser = createBrowserUser(place),
): Promise<Row> {
  let client: McpClient | undefined;
  const own = join(folder, `${kind.id}-${kind.revision}`);
  try {
    client = await kind.start(`${place.base}/mcp`, cacheDir, own);
    const outcome = await journeyOf(client, user);
    return { kind, verdict: checkJourney(outcome, { issuer: place.issuer, revision: kind.revision }) };
  } finally {
    await client?.end();
    rmSync(own, { recursive: true, force: true });
  }
}

const columns = ["Client", "Version", "Revision", "Sign-in", "Tools", "Refresh", "After sign-out"] as const;

/** The table, followed by the problems. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ kind, verdict }) => [
    ...[kind.name, kind.version, kind.revision],
    verdict.signIn.length === 0 ? "ok" : "FAILED",
    verdict.tools.length === 0 ? `${toolCalls.length} of ${toolCalls.length}` : "FAILED",
    verdict.refresh.length === 0 ? "ok" : "FAILED",
    verdict.afterSignOut.length === 0 ? "new sign-in" : "FAILED",
  ]);
  const widths = columns.map((head, at) => Math.max(head.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...cells.map(line), ...problemsOf(rows)].join(
    "\n",
  );
}

function problemsOf(rows: readonly Row[]): string[] {
  return rows.flatMap(({ kind, verdict }) =>
    Object.entries(verdict).flatMap(([step, problems]: [string, readonly string[]]) =>
      problems.map((problem) => `${labelOf(kind)}, ${step}: ${problem}`),
    ),
  );
}
