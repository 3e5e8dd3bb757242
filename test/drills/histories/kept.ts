// Stores histories and violations as JSON lines during a drill. They are kept if it fails.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Operation } from "./operation.ts";
import type { Violation } from "./violations.ts";

export interface Kept {
  readonly folder: string;
  keep(name: string, lines: readonly (Operation | Violation)[]): void;
  remove(): void;
}

export function keepHistories(): Kept {
  const folder = mkdtempSync(join(tmpdir(), "records-histories-"));
  return {
    folder,
    keep: (name, lines) =>
      writeFileSync(join(folder, `${name}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
