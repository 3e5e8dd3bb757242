// The demo's records, which tell of a year of work: files as `records export` writes them, moved to today.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fromJsonString } from "@bufbuild/protobuf";
import type { Record as ImportedRecord } from "../../gen/records/ingest/v1/import_pb.ts";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import { acceptShortEnumNames } from "../../http/enum-names.ts";
import { packageRoot } from "../../process/root.ts";

// The library reads the names of enums once, and this may be the first message that it decodes in the process.
acceptShortEnumNames(RecordSchema);

/** The accounts, by the first part of their email address. Each has a file. */
export type DemoProfile = "demo" | "second" | "reader" | "enrolled" | "waiting";

/** What decides how a line is moved. */
interface Line {
  readonly session?: { readonly id: string; readonly session_date?: string };
  readonly transcript?: { readonly session_id: string };
  readonly session_note?: { readonly session_id: string };
}

const dayMs = 86_400_000;
/** The first instant of today in the files. */
const writtenOn = Date.UTC(2026, 5, 1);
const timeForm = /"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g;
/** A month, by the distance of one of its days from today. */
const monthForm = /\(month (-?\d+)\)/g;
const monthName = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" });

/**
 * Returns the records of a demo account on the UTC day of `now`, each after the one that it belongs to. Another day has
 * the same records with the same ids, so importing them again overwrites them.
 */
export function demoRecords(profile: DemoProfile, now: Date): ImportedRecord[] {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const shift = today - writtenOn;
  /** The milliseconds from a session's weekend to its working day, by its id. */
  const moves = new Map<string, number>();

  function moved(line: string): string {
    const { session, transcript, session_note: note } = JSON.parse(line) as Line;
    if (session?.session_date !== undefined)
      moves.set(session.id, toWorkday(Date.parse(session.session_date) + shift, today));
    const move = moves.get(session?.id ?? transcript?.session_id ?? note?.session_id ?? "") ?? 0;
    return line
      .replace(timeForm, (_, text: string) => {
        const at = Date.parse(text) + shift;
        // A session in the future was planned in the past.
        return JSON.stringify(new Date(move > 0 && at < today ? at : at + move));
      })
      .replace(monthForm, (_, days: string) => monthName.format(today + Number(days) * dayMs));
  }

  const lines = readFileSync(join(packageRoot, "src/embedded/demo", `${profile}.ndjson`), "utf8").trimEnd();
  return lines.split("\n").map((line) => fromJsonString(RecordSchema, moved(line)));
}

/** Returns the milliseconds from an instant at a weekend to the nearest working day in the direction away from today. */
function toWorkday(instant: number, today: number): number {
  const weekday = new Date(instant).getUTCDay();
  const isPast = instant < today;
  if (weekday === 6) return (isPast ? -1 : 2) * dayMs;
  if (weekday === 0) return (isPast ? -2 : 1) * dayMs;
  return 0;
}
