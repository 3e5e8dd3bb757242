// Maps the columns of a CSV file to contact fields, by our own names and those of common exports.
import type { DescField } from "@bufbuild/protobuf";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import { firstVisible } from "../../text/text.ts";
import { withoutEncodedWords } from "./encoded-words.ts";
import { rejectUsage } from "../exit.ts";
import { count } from "../output.ts";
import type { Choice } from "./choices.ts";
import {
  chooseEmail,
  choosePhone,
  maxExternalIdLength,
  nameOf,
  notPreferred,
  numbersIn,
  shortened,
} from "./choices.ts";
import headers from "./csv-headers.json" with { type: "json" };
import { targetByWords } from "./csv-header-words.ts";
import type { Cell } from "./csv-rows.ts";

/** More than a spreadsheet of people has. The work for each row grows with the number of columns. */
const maxColumns = 5_000;
const maxKeyLength = 1_000;
/** The maximum number of columns in a message. */
const maxListed = 100;

/** The fields of a contact, in the order of an export. Each can have a column. */
export const contactFields: readonly DescField[] = ContactItemSchema.fields;
const fieldNames = contactFields.map(({ name }) => name);

/** The name of a field, or of a part of one. */
type Target = string;
const nameParts = ["name_prefix", "given_name", "additional_name", "family_name", "name_suffix"] as const;
/** What names a contact without a full name and parts of it. */
const standIns = ["nickname", "file_as", "organization"] as const;
/** The name of a person, or of the company whose person has a given and a family name. */
const accountName = "account_name";
/** The targets of --map. */
const targets: readonly Target[] = [...fieldNames, ...nameParts, "organization"];

/** The columns with numbers, and the kind of number that they have. */
const phoneTargets: Readonly<Record<Target, string>> = {
  phone: "",
  phone_mobile: "mobile",
  phone_work: "work",
  phone_home: "home",
  phone_fax: "fax",
  phone_pager: "pager",
};

/** The column with the calling code of the numbers in another column, as Twenty exports it. */
const callingCode: Target = "phone_calling_code";

/** A file needs a column of one of these. A fax alone can be in a file whose language is not known. */
const personal = new Set<Target>([
  ...["full_name", "given_name", "family_name", accountName, "nickname", "email"],
  ...["phone", "phone_mobile", "phone_work", "phone_home"],
]);

/**
 * Header names of each target, as the exports of address books, mail programs and CRMs have them in several languages.
 * If a file has several columns for a target, the name listed first takes precedence, after the name of the field.
 */
const names: ReadonlyMap<string, { readonly target: Target; readonly rank: number }> = new Map(
  Object.entries<readonly string[]>(headers)
    .flatMap(([target, all]) => all.map((name, rank) => [keyOf(name).base, { target, rank: rank + 1 }] as const))
    // An earlier name must not be replaced by a later one.
    .reverse()
    .concat(fieldNames.map((target) => [keyOf(target).base, { target, rank: 0 }] as const)),
);

/**
 * Headers whose meaning depends on the other columns, in the order in which it is decided: they mean `to` if there is
 * `needs` and there is no `lacks`.
 */
const dependent: readonly Dependent[] = (
  [
    { names: ["Apelido"], to: "nickname", needs: "family_name" },
    {
      names: ["Name", "Nom", "Naam", "Nume", "Navn", "Namn", "Nimi"],
      to: "family_name",
      needs: "given_name",
      lacks: "family_name",
    },
    {
      names: ["Name", "Nom", "Nombre", "Nome", "Ime", "Tên", "이름", "名前", "שם", "الاسم", "نام", "ชื่อ"],
      to: "given_name",
      needs: "family_name",
      lacks: "given_name",
    },
    { names: ["Prefix"], to: "name_prefix", needs: "given_name" },
    { names: ["Home", "Privat"], to: "phone_home", needs: "phone_mobile" },
    { names: ["Particular"], to: "phone_home", needs: "phone_work" },
    { names: ["Work", "Business", "Office", "Arbeit"], to: "phone_work", needs: "phone_mobile" },
    // The phone book of a telephone system has only names and numbers.
    { names: ["Number", "Nummer", "Numéro", "Número", "Numero"], to: "phone", needs: "full_name", lacks: "email" },
  ] satisfies Dependent[]
).map((one) => ({ ...one, names: one.names.map((name) => keyOf(name).base) }));

interface Dependent {
  readonly names: readonly string[];
  readonly to: Target;
  readonly needs: Target;
  readonly lacks?: Target;
}

/** What a row contains. */
export interface Values {
  /** The value of each field. Blank values are left out. */
  readonly values: ReadonlyMap<string, string>;
  /** How many values cannot be stored. */
  readonly leftOut: number;
  readonly problem?: string;
}

/** The mapping of a file's columns to fields. */
export interface Columns {
  read(row: readonly Cell[]): Values;
  /** Whether the file has all columns of an export of Records. */
  readonly isExport: boolean;
  /** The fields of contacts that the file has a column for. */
  readonly fields: readonly string[];
  /** For display: the mapped headers with the use of their values, and the headers that are left out. */
  readonly taken: readonly (readonly [header: string, use: string])[];
  readonly leftOut: readonly string[];
  /** The line of the header. */
  readonly line: number;
}

/** The options `--map`: targets by header. */
export type ColumnMap = ReadonlyMap<string, Target | "-">;

/**
 * Parses the options `--map Header=field` into targets by header. `Header=-` leaves a column out. Fails with a usage
 * error.
 */
export function parseMap(options: readonly string[]): ColumnMap {
  return new Map(
    options.map((option) => {
      const at = option.lastIndexOf("=");
      const field = option.slice(at + 1).trim();
      const target = field === "-" ? "-" : targets.find((one) => one === field);
      if (at < 1 || target === undefined)
        rejectUsage(
          `--map "${option}": must be Header=field, with one of the fields ${targets.join(", ")}, or - to skip the column.`,
        );
      return [headerKey(option.slice(0, at)), target];
    }),
  );
}

/** What is known of a row as a header. */
interface Rating {
  /** How many columns are known. */
  readonly known: number;
  /** Whether one of them is of a name, email or phone. */
  readonly isPersonal: boolean;
  /** Whether one of them is of an email or phone. */
  readonly hasAddress: boolean;
}

export function rateHeader(header: readonly string[], map: ColumnMap): Rating {
  if (header.length > maxColumns) return { known: 0, isPersonal: false, hasAddress: false };
  const byTarget = columnsByTarget(header, map);
  const known = new Set([...byTarget.values()].flatMap((columns) => columns.map(({ at }) => at))).size;
  const found = [...byTarget.keys()];
  const hasAddress = found.some((target) => target === "email" || target in phoneTargets);
  return { known, isPersonal: found.some((target) => personal.has(target)), hasAddress };
}

/**
 * Finds the columns of a header row. Fails with a usage error if no column has a name, email or phone, or if the map
 * names a missing one.
 */
export function findColumns(header: readonly string[], map: ColumnMap, line: number): Columns {
  if (header.length > maxColumns)
    rejectUsage(
      `The first row has ${count(header.length)} columns, and a file can have at most ${count(maxColumns)}. Check that it is a CSV file with a header, and remove the columns that you do not need.`,
    );
  const keys = new Set(header.map(headerKey));
  const missing = [...map.keys()].find((key) => !keys.has(key));
  if (missing !== undefined) rejectUsage(`--map: there is no column "${missing}". The file has: ${listed(header)}.`);
  const columnsOf = columnsByTarget(header, map);
  if (![...columnsOf.keys()].some((target) => personal.has(target)))
    rejectUsage(
      `None of the columns is known as a name, email or phone (${listed(header)}). One of the first 20 rows must be a header. If it is, map its columns with --map "Header=field".`,
    );
  const of = (target: Target): readonly Column[] => columnsOf.get(target) ?? [];
  const phones = Object.entries(phoneTargets).flatMap(([target, kind]) => of(target).map((one) => ({ ...one, kind })));
  const used = new Set([...columnsOf.values()].flatMap((columns) => columns.map(({ at }) => at)));
  const own = new Set(header.filter((name) => fieldNames.includes(name)));
  const isExport = own.size === fieldNames.length;
  // The column Name beside Surname, or the first of two columns of one name, can have the whole name.
  const [givenNames, familyNames] = [of("given_name"), of("family_name")];
  const mayHaveFamily = givenNames.length > 1 || givenNames.some(({ at }) => keyOf(header[at] ?? "").base === "name");
  const mayHaveGiven = familyNames.length > 1;

  return {
    line,
    isExport,
    fields: fieldNames.filter((field) => [...columnsOf.keys()].some((target) => fieldOf(target) === field)),
    taken: usesOf(header, columnsOf),
    leftOut: header.filter((name, at) => !used.has(at) && name !== ""),
    read(row) {
      const unexpected = row.slice(header.length).some(({ text }) => text.trim() !== "");
      if (unexpected)
        return { ...empty, problem: `has ${count(row.length)} cells, and the header has ${count(header.length)}` };
      const filled = row.filter(({ text }) => text.trim() !== "");
      const isMarked = filled.length > 1 && filled.every(({ text }) => marked.test(text.trim()));
      const textAt = (at: number): string => {
        const { text = "", isQuoted = false } = row[at] ?? {};
        // A cell of our own export has the exact text.
        if (isQuoted && own.has(header[at] ?? "")) return text;
        return !isQuoted && !isExport && noValue.test(text) ? "" : written(text.trim(), isMarked);
      };
      // A number that a spreadsheet has rounded is none.
      const isWhole = (text: string): boolean => isExport || !rounded.test(text);
      const first = (target: Target): string | undefined => firstFilled(of(target).map(({ at }) => textAt(at)));
      const choicesIn = ({ at, label, isMapped, callingCode: code }: Column, kind = ""): Choice[] => {
        const said = label === undefined ? "" : textAt(label);
        const preference = isMapped ? 0 : said.startsWith("*") ? 1 : notPreferred;
        // Google joins the values of one label with ` ::: `.
        return textAt(at)
          .split(" ::: ")
          .flatMap((value) => (isExport ? [value] : numbersIn(value)))
          .map((value) => ({
            value: withCode(isExport ? value : dialled(value), code === undefined ? "" : textAt(code)),
            preference,
            kind: `${kind} ${said}`,
          }));
      };
      const { email, ...problem } = chooseEmail(of("email").flatMap((one) => choicesIn(one)));
      const numbers = phones.flatMap((one) => choicesIn(one, one.kind));
      const chosen = choosePhone(
        numbers.filter(({ value }) => isWhole(value)),
        isExport,
      );
      const broken = numbers.filter(({ value }) => !isWhole(value)).length;
      const [prefix, given, additional, family, suffix] = nameParts.map(first);
      const name = nameOf({
        prefix,
        additional,
        suffix,
        ...(mayHaveGiven && hasWord(family, given) ? {} : { given }),
        ...(mayHaveFamily && hasWord(given, family) ? {} : { family }),
      });
      const said = first("external_id");
      const externalId = isExport ? said : said?.replace(apostrophe, "");
      const isNoId = externalId !== undefined && (externalId.length > maxExternalIdLength || !isWhole(externalId));
      const values = new Map(fieldNames.map((field) => [field, first(field)]));
      values.set("external_id", externalId);
      const whole = given === undefined || family === undefined ? undefined : name;
      const fullName =
        first("full_name") ??
        whole ??
        first(accountName) ??
        name ??
        firstFilled(standIns.map((one) => first(one) ?? ""));
      values.set("full_name", fullName && withoutEncodedWords(fullName));
      values.set("email", email);
      values.set("phone", chosen.phone);
      if (isNoId) values.delete("external_id");
      const set = [...values].filter((entry): entry is [string, string] => entry[1] !== undefined);
      return { values: new Map(set), leftOut: chosen.leftOut + broken + (isNoId ? 1 : 0), ...problem };
    },
  };
}

const empty = { values: new Map<string, string>(), leftOut: 0 };

/** What databases and spreadsheets write into a cell without a value. */
const noValue = /^\s*(?:NULL|null|\(null\)|\\N|#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!))\s*$/;

/** The mark before a number that a spreadsheet would calculate with. */
const apostrophe = /^['’](?=[+\d])/;

/** A cell such as `="0171"`, which a spreadsheet leaves as it is. */
const marked = /^="(.*)"$/s;

/** Returns a text without the marks of digits. A program can write them around all texts of a row. */
function written(text: string, isMarked: boolean): string {
  const [, inner = ""] = marked.exec(text) ?? [];
  const isNumber = /^[\d\s()+./-]+$/.test(inner) && /\d/.test(inner);
  return inner !== "" && (isMarked || isNumber) ? inner.replaceAll('""', '"').trim() : text;
}

/** A number that a spreadsheet has rounded, such as `4.91715E+11`. */
const rounded = /^\d[.,]\d+E\+?\d+$/i;

/** A number with separators of thousands. */
const grouped = /^\d{1,3}(?:,\d{3}){2,}$/;

/**
 * Returns a number without what spreadsheets and programs add to it: `'0171`, `491715550100.0`, `491,715,550,100`,
 * `3.108207129E9`.
 */
function dialled(text: string): string {
  const plain = text
    .trim()
    .replace(/^['’]/, "")
    .replace(/^(\d{5,})\.0+$/, "$1")
    .replace(grouped, (number) => number.replaceAll(",", ""));
  const [, first = "", rest = "", exponent = ""] = /^(\d)[.,](\d+)E\+?(\d{1,2})$/i.exec(plain) ?? [];
  return first !== "" && rest.length === Number(exponent) ? `${first}${rest}` : plain;
}

/** Returns whether a name has another one as a word. */
function hasWord(name = "", word = ""): boolean {
  const [whole, part] = [name, word].map((text) => ` ${text.toLowerCase().replaceAll(",", " ")} `);
  return word !== "" && whole !== part && whole?.includes(part ?? "") === true;
}

/** Returns a national number with its calling code. */
function withCode(number: string, code: string): string {
  const digits = code.replace(/^(?:\+|00)/, "");
  return !/^\d{1,4}$/.test(digits) || !/^\d/.test(number) || number.startsWith("00") ? number : `+${digits} ${number}`;
}

function firstFilled(texts: readonly string[]): string | undefined {
  return texts.find((text) => text.trim() !== "" && firstVisible(text) !== undefined);
}

/** A column of the file. */
interface Column {
  readonly at: number;
  /** The column with the labels of this column's values. */
  readonly label: number | undefined;
  /** The column with the calling code of this column's number. */
  readonly callingCode?: number | undefined;
  readonly isMapped: boolean;
}

interface Found extends Column {
  readonly base: string;
  readonly order: readonly number[];
}

/** Returns the columns for each target, in order of precedence. */
function columnsByTarget(header: readonly string[], map: ColumnMap): ReadonlyMap<Target, readonly Column[]> {
  const columnsOf = new Map<Target, Found[]>();
  const put = (target: Target, column: Found): void => {
    const columns = columnsOf.get(target);
    if (columns === undefined) columnsOf.set(target, [column]);
    else columns.push(column);
  };
  const undecided: Found[] = [];
  const columns = new Map(header.map((name, at) => [columnKey(keyOf(name)), at] as const));
  for (const [at, name] of header.entries()) {
    const mapped = map.get(headerKey(name));
    const { base, number } = keyOf(name);
    if (mapped !== undefined) {
      if (mapped !== "-") put(mapped, { at, label: undefined, isMapped: true, base: "", order: [-1, 0, at] });
      continue;
    }
    /** Returns the column whose name is that of this one with another end. */
    const beside = (stem: string, end: string): number | undefined =>
      columns.get(columnKey({ base: `${stem}${end}`, number }));
    const codeBeside = (stem: string): number | undefined => beside(stem, "callingcode") ?? beside(stem, "countrycode");
    const label = labelOf(header, at) ?? beside(base, "type") ?? beside(base, "label");
    const found = targetOf(name) ?? targetOf(name.replace(instruction, ""));
    const isPhone = found !== undefined && found.target in phoneTargets;
    const code = isPhone && base.endsWith("number") ? codeBeside(base.slice(0, -"number".length)) : undefined;
    if (code !== undefined)
      put(callingCode, { at: code, label: undefined, isMapped: false, base, order: [0, 0, code] });
    const column = { at, label, callingCode: code, isMapped: false, base, order: [found?.rank ?? 0, number, at] };
    if (dependent.some((one) => one.names.includes(base))) undecided.push(column);
    else if (found !== undefined) put(found.target, column);
  }
  const has = new Set([...columnsOf.keys()].map((target) => (target === accountName ? "full_name" : target)));
  for (const base of new Set(dependent.flatMap((one) => one.names))) {
    const rule = dependent.find(
      (one) => one.names.includes(base) && has.has(one.needs) && (one.lacks === undefined || !has.has(one.lacks)),
    );
    const target = rule?.to ?? names.get(base)?.target;
    const all = undecided.filter((one) => one.base === base);
    if (target === undefined || all.length === 0) continue;
    for (const column of all) put(target, column);
    has.add(target);
  }
  for (const all of columnsOf.values()) all.sort((one, other) => compare(one.order, other.order));
  return columnsOf;
}

/** Words before the name, email or phone of a person, as in `Invitee First Name` and `Contact : Mobile`. */
const person =
  /^(?:contact|person|invitee|guest|attendee|participant|lead|client|customer|buyer|billing|member|saved|kunden?|kontakt)/;
/** What precedes a column in a flattened object, as in `properties.email`, and in a form, as in `What's your name?` */
const before = /^(?:properties|attributes|fields|(?:whati?s|enter|pleaseenter)?your|deine?|ihre?|ansprechpartner)/;
/** How to fill in a column, such as `[Required]`. */
const instruction = /\[[^[\]]*\]$/;

interface FoundTarget {
  readonly target: Target;
  readonly rank: number;
}

function targetOf(header: string): FoundTarget | undefined {
  const { base } = keyOf(header);
  return names.get(base) ?? ofPerson(base) ?? ofParts(header) ?? byWords(header);
}

function ofPerson(base: string): FoundTarget | undefined {
  const rest = base.replace(before, "").replace(person, "");
  const found = names.get(rest) ?? (rest === base ? undefined : byWords(rest));
  return found !== undefined && personal.has(found.target) ? { ...found, rank: names.size + found.rank } : undefined;
}

const between = /[,/&+]| (?:and|und|et|y|e|og|och|i|en|ja) /i;

/** Recognizes a header such as `Last Name, First Name` and `Nachname Vorname`, or `Company/Last Name`. */
function ofParts(header: string): FoundTarget | undefined {
  const [all = [], words = []] = [between, /\s+/].map((divider) =>
    header
      .slice(0, maxKeyLength)
      .split(divider)
      .map((part) => names.get(keyOf(part).base)?.target ?? ""),
  );
  const isBoth = [all, words].some(
    (some) =>
      some.every((part) => part.endsWith("_name")) && some.includes("given_name") && some.includes("family_name"),
  );
  const part = header.includes("/") ? all.find((one) => one === "given_name" || one === "family_name") : undefined;
  const target = isBoth ? "full_name" : part;
  return target === undefined ? undefined : { target, rank: names.size };
}

/** Returns the target of a header by its words. A column with a name that a program is known for takes precedence. */
function byWords(header: string): FoundTarget | undefined {
  const found = targetByWords(header.slice(0, maxKeyLength));
  return found && { target: found.target, rank: names.size + (found.isSecondary ? 1 : 0) };
}

function compare(one: readonly number[], other: readonly number[]): number {
  return one.map((value, at) => value - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/** Returns a text that two headers share if they have the same words and number. */
function columnKey({ base, number }: ReturnType<typeof keyOf>): string {
  return `${base} ${number}`;
}

/** Google's `Phone 1 - Label` comes before `Phone 1 - Value`, in every language. */
function labelOf(header: readonly string[], at: number): number | undefined {
  const stemOf = (name = ""): string => name.split(/ [-–] /, 1)[0] ?? "";
  const [name = "", previous] = [header[at], header[at - 1]];
  const stem = stemOf(name);
  return stem !== name && /\d$/.test(stem) && stem === stemOf(previous) ? at - 1 : undefined;
}

/** Describes the use of each column, some of which apply only if another value is empty. */
function usesOf(
  header: readonly string[],
  columnsOf: ReadonlyMap<Target, readonly Column[]>,
): (readonly [string, string])[] {
  const seen = new Set<string>();
  const order = [
    ...fieldNames,
    ...nameParts,
    ...standIns,
    "phone_mobile",
    "phone_work",
    "phone_home",
    "phone_fax",
    "phone_pager",
    callingCode,
  ];
  return order.flatMap((target) =>
    (columnsOf.get(target) ?? []).map(({ at }) => {
      const use = useOf(target, seen, columnsOf);
      seen.add(target);
      return [header[at] ?? "", use] as const;
    }),
  );
}

function useOf(target: Target, seen: ReadonlySet<Target>, columnsOf: ReadonlyMap<Target, unknown>): string {
  const kind = phoneTargets[target];
  if (kind !== undefined && kind !== "") return `phone (${kind})`;
  if (target === callingCode) return "phone (calling code)";
  const isPart = nameParts.some((part) => part === target);
  const isBeside = target === accountName && columnsOf.has("given_name") && columnsOf.has("family_name");
  const isStandIn = isBeside || standIns.some((part) => part === target);
  const field = fieldOf(target);
  if (seen.has(target)) return target === "phone" ? "phone (other)" : `${field} if the previous column is empty`;
  if (isStandIn) return "full_name if there is no name";
  return isPart && columnsOf.has("full_name") ? "full_name if that is empty" : field;
}

/** Returns the field that a target gives a value. */
function fieldOf(target: Target): string {
  if (target in phoneTargets || target === callingCode) return "phone";
  return [...nameParts, ...standIns, accountName].some((part) => part === target) ? "full_name" : target;
}

/** Returns the first columns for a message, and how many it leaves out. */
function listed(header: readonly string[]): string {
  const shownNames = header.slice(0, maxListed).map(shortened);
  if (header.length > maxListed) shownNames.push(`and ${count(header.length - maxListed)} more`);
  return shownNames.join(", ");
}

/**
 * Normalizes a header. Some systems write an accent as a separate character. No name is as long as what is cut: many
 * accents in a row take quadratic time.
 */
function headerKey(header: string): string {
  return header.trim().slice(0, maxKeyLength).normalize("NFC").toLowerCase();
}

/** Returns a header without accents, blanks, signs and its number: `E-mail 2 - Value` is the second `emailvalue`. */
function keyOf(header: string): { readonly base: string; readonly number: number } {
  const plain = headerKey(header)
    .normalize("NFD")
    .replaceAll("ł", "l")
    .replace(/[^\p{L}\d]/gu, "");
  return { base: plain.replace(/\d+/g, ""), number: Number(/\d{1,9}/.exec(plain)?.[0] ?? 0) };
}
