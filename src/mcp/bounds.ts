// Limits the size of tool results, so that no result fills a model's context (contract §8).
import { endOfCodePoint } from "../text/text.ts";

/** The maximum size of a result in bytes: 20,000 tokens of 3 UTF-8 bytes each. */
export const resultBytes = 60_000;
/** Bytes reserved for the members that are added to a cut result, and for the pagination of a cut page. */
const reserve = 1_000;
/** Lengths to which inner lists are shortened, longest first, until texts of `minText` characters fit. */
const listSteps = [Infinity, 200, 100, 50, 35, 20, 10, 5, 3, 2, 1, 0];
const minText = 300;
/** Members that hold the result itself, whose lists keep all their items. */
const outer = new Set(["data", "results", "passages"]);

/** How to get the items that a page lacks. */
export const pageOn = "The page is shorter than its limit, because long records fill it: pass next_offset as offset.";

/** The structured content of a tool result. */
export type Content = Readonly<Record<string, unknown>>;

/** A result to send: its content, and that content as JSON. */
export interface Bounded {
  readonly content: Content;
  readonly text: string;
}

/**
 * Returns the content, cut if it exceeds `resultBytes`. A page gets fewer items and an earlier `next_offset`. In other
 * content, long texts are cut and inner lists shortened. Cut content has `truncated: true`, and its `hint`
 * ends with `rest`.
 */
export function bounded(content: Content, rest: string): Bounded {
  const text = JSON.stringify(content);
  if (Buffer.byteLength(text) <= resultBytes) return { content, text };
  const page = cutPage(content);
  const hint = joined(content["hint"], page === undefined ? rest : pageOn);
  const cut = { ...(page ?? cutTexts(content)), truncated: true, hint };
  return { content: cut, text: JSON.stringify(cut) };
}

function joined(hint: unknown, rest: string): string {
  return typeof hint === "string" ? `${hint} ${rest}` : rest;
}

interface Pagination {
  readonly offset: number;
  readonly [name: string]: unknown;
}

/**
 * Keeps as many items of a page as fit, at least one. Returns undefined if the content is not a page, or if its first
 * item alone is too large.
 */
function cutPage(content: Content): Content | undefined {
  const { data, pagination } = content as { readonly data?: unknown; readonly pagination?: Pagination };
  if (!Array.isArray(data) || pagination === undefined) return undefined;
  let left = resultBytes - reserve;
  const kept = data.findIndex((item) => {
    left -= bytesOf(item) + 1;
    return left < 0;
  });
  if (kept < 1) return undefined;
  const next = { ...pagination, has_more: true, next_offset: pagination.offset + kept };
  return { ...content, data: data.slice(0, kept), pagination: next };
}

/** Shortens inner lists until 300 characters of each text fit. The texts then share the remaining space. */
function cutTexts(content: Content): Content {
  const limit = resultBytes - reserve;
  const items = listSteps.find((step) => fits(content, { text: minText, items: step }, limit)) ?? 0;
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(content, { text: middle, items }, limit)) low = middle;
    else high = middle - 1;
  }
  return shortened(content, { text: low, items }) as Content;
}

/** The maximum length of a text, in UTF-16 units, and of a list within another value, in items. */
interface Longest {
  readonly text: number;
  readonly items: number;
}

/**
 * Whether the value, shortened to `longest`, has at most `limit` bytes as JSON. Stops at the limit, so that larger
 * values take no longer.
 */
function fits(value: unknown, longest: Longest, limit: number): boolean {
  let left = limit;
  const take = (one: unknown, inner: boolean): void => {
    if (left < 0) return;
    if (typeof one === "string") left -= bytesOf(cutText(one, longest.text)) + 1;
    else if (Array.isArray(one)) {
      left -= 2;
      for (const item of itemsOf(one, longest, inner)) {
        take(item, true);
        if (left < 0) return;
      }
    } else if (typeof one === "object" && one !== null) {
      left -= 2;
      for (const [name, member] of Object.entries(one)) {
        left -= bytesOf(name) + 2;
        take(member, inner || !outer.has(name));
      }
    } else left -= bytesOf(one) + 1;
  };
  take(value, false);
  return left >= 0;
}

/** Returns the value with its texts cut and its inner lists shortened. */
function shortened(value: unknown, longest: Longest, inner = false): unknown {
  if (typeof value === "string") return cutText(value, longest.text);
  if (Array.isArray(value)) return itemsOf(value, longest, inner).map((one) => shortened(one, longest, true));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [
    name,
    shortened(one, longest, inner || !outer.has(name)),
  ]);
  return Object.fromEntries(members);
}

function itemsOf(list: readonly unknown[], { items }: Longest, inner: boolean): readonly unknown[] {
  return inner && list.length > items ? list.slice(0, items) : list;
}

function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = endOfCodePoint(text, longest - 1) > longest ? longest - 1 : longest;
  return `${text.slice(0, end)}… (cut: the text has ${text.length} characters)`;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
