// Tells by the beginning of a file what it is, whatever its name says.
import { createReadStream } from "node:fs";
import { extname } from "node:path";
import { TextDecoder } from "node:util";
import { rejectUsage } from "../exit.ts";
import { beginsTable } from "../formats/csv.ts";
import { encodingOf } from "../formats/encoding.ts";
import type { Format } from "../formats/entry.ts";
import { beginsRecord } from "../formats/ndjson.ts";
import { turnsInTable } from "../formats/speech-table.ts";

/** In bytes. The header of Outlook alone has 1,500. */
const length = 16_000;

/** Returns the beginning of a file as text. `said` is the encoding that the user set. */
export async function beginningOf(file: string, said: string | undefined): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(file, { end: length - 1 })) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  return new TextDecoder(encodingOf(bytes, said)).decode(bytes).trimStart();
}

const begins: readonly (readonly [begin: RegExp, format: Format])[] = [
  [/^BEGIN:\s*VCARD\s/i, "vcard"],
  [/^BEGIN:\s*VCALENDAR\s/i, "icalendar"],
  [/^WEBVTT\s/, "transcript"],
];

/** Returns the format of a file, if its beginning shows it. Outlook and Excel save tables as `.txt` as well. */
export function formatByBeginning(file: string, text: string): Format | undefined {
  if (text !== "" && beginsRecord(text)) return "ndjson";
  const extension = extname(file).toLowerCase();
  if ((extension === ".csv" || extension === ".tsv") && turnsInTable(text) !== undefined) return "transcript";
  const isTable = extension === ".txt" && beginsTable(text);
  return isTable ? "csv" : begins.find(([begin]) => begin.test(text))?.[1];
}

/** Control characters, of which a text has a few at most, also at its beginning: an archive may contain text. */
const controls = /[\0-\x08\x0e-\x1a\x1c-\x1f]/g;
const [shown, maxControls, maxShare] = [1_000, 3, 0.01];
const backup = /^\{"(?:records_backup":|collection":"\w{1,30}","document":)/;
const document = /^(?:%PDF-|\{\\rtf)/;
const page = /^<(?:!doctype\s|\?xml\s|html[\s>]|head>|tt[\s:][^>]{0,200}xmlns)/i;

/**
 * Fails with a usage error if a file begins as one in which no format looks for records. A page is a text if the user
 * `said` so.
 */
export function requireText(file: string, text: string, said: Format | undefined): void {
  const beginning = text.slice(0, shown);
  const count = beginning.match(controls)?.length ?? 0;
  if (count > Math.max(maxControls, beginning.length * maxShare) || document.test(text))
    rejectUsage(
      `${file} is not a text: it may be an archive, a spreadsheet or a document. Unpack it, or save it as CSV, vCard, iCalendar, captions or plain text.`,
    );
  if (backup.test(text))
    rejectUsage(`${file} is a file of a backup. To restore it, run records restore with its folder.`);
  if (said !== "transcript" && page.test(text))
    rejectUsage(
      `${file} is HTML or XML. A download can be the page of a sign-in. Otherwise, export CSV, vCard, iCalendar, captions or plain text instead.`,
    );
}
