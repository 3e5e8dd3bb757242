// Reads contacts from LDIF (RFC 2849), as Thunderbird, SOGo and directories export it.
import type { ColumnMap, Columns } from "./csv-columns.ts";
import { entriesOf } from "./contact-table.ts";
import type { TableRow } from "./contact-table.ts";
import type { Entry } from "./entry.ts";
import type { Line } from "./lines.ts";

/** The attributes of directories and of Mozilla, in lower case, that no table has as the name of a column. */
const names: Readonly<Record<string, string>> = {
  cn: "Display Name",
  sn: "Surname",
  o: "Organization",
  mozillanickname: "Nickname",
  mozillasecondemail: "Secondary Email",
  facsimiletelephonenumber: "Fax",
};

/** How many values of one attribute are read. */
const maxValues = 10;

/** `name: text`, `name:: base64`, and options such as `;lang-de` after the name. */
const attribute = /^([A-Za-z][\w.-]*)(?:;[^:]*)?:(:?)(.*)$/;

/** Reads one contact from each person. Other entries, such as groups and units, are skipped. */
export async function* readLdif(
  chunks: AsyncIterable<readonly Line[]>,
  map: ColumnMap,
  onColumns: (columns: Columns) => void,
): AsyncIterable<Entry> {
  const records: Line[][] = [[]];
  for await (const lines of chunks) {
    for (const line of lines) {
      const text = line.text.replace(/\r$/, "");
      const record = records.at(-1) ?? [];
      const last = record.at(-1);
      if (text.startsWith(" ") && last !== undefined)
        record[record.length - 1] = { ...last, text: `${last.text}${text.slice(1)}` };
      else if (text === "" && line.problem === undefined) records.push([]);
      else record.push({ ...line, text });
    }
  }
  yield* entriesOf(
    records.filter((record) => record.some(({ text }) => /^dn:/i.test(text))).map(rowOf),
    map,
    onColumns,
  );
}

function rowOf(record: readonly Line[]): TableRow {
  const input = record.map(({ text }) => text).join("\n");
  const found = record.flatMap(({ text }) => {
    const [, name = "", isBase64, said = ""] = attribute.exec(text) ?? [];
    const value = said.trim();
    return name === ""
      ? []
      : [[name.toLowerCase(), isBase64 ? Buffer.from(value, "base64").toString() : value] as const];
  });
  const kinds = found.filter(([name]) => name === "objectclass").map(([, kind]) => kind);
  const counts = new Map<string, number>();
  const values = found.flatMap(([name, value]) => {
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    // A person can be in thousands of groups.
    return number > maxValues ? [] : [[`${names[name] ?? name}${number === 1 ? "" : ` ${number}`}`, value] as const];
  });
  const problem = record.find((line) => line.problem !== undefined)?.problem;
  const skipped = kinds.length === 0 || kinds.some((kind) => /person|contact/i.test(kind)) ? undefined : "group";
  return { line: record[0]?.number ?? 1, input, values, problem, skipped };
}
