// Bounds what a tool returns, so that no result fills a model's context (contract §8).
import { endOfCodePoint } from "../text.ts";

/** 20,000 tokens, a token counted as 3 bytes of UTF-8. */
export const resultBytes = 60_000;
/** For what is added to a result that is cut. */
const reserve = 1_000;
/** How many items of inner lists are kept, and how many characters of a text at least, before more items go. */
const listSteps = [Infinity, 200, 100, 50, 35, 20, 10, 5, 3, 2, 1, 0];
const leastText = 300;
/** The members whose list is the result itself: it keeps all its items. */
const outer = new Set(["data", "results", "passages"]);

/** The structured content of a tool. */
export type Content = Readonly<Record<string, unknown>>;

/** A result as it goes out: the content, and the same as JSON. */
export interface Bounded {
  readonly content: Content;
  readonly text: string;
}

/**
 * The content, cut where it is too large: a page has fewer items and a nearer `next_offset`; elsewhere long texts are
 * cut and inner lists shortened. Content that is cut has `truncated`, and `rest` in its `hint`.
 */
export function bounded(content: Content, rest: string): Bounded {
  const cut = fits(content, whole, resultBytes)
    ? content
    : { ...(cutPage(content) ?? cutTexts(content)), truncated: true, hint: joined(content["hint"], rest) };
  return { content: cut, text: JSON.stringify(cut) };
}

function joined(hint: unknown, rest: string): string {
  return typeof hint === "string" ? `${hint} ${rest}` : rest;
}

interface Pagination {
  readonly offset: number;
  readonly [name: string]: unknown;
}

/** As many items as fit, at least one; undefined where that is no page, or its first item alone is too large. */
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

/** The inner lists keep as many items as leave 300 characters for each text; then the texts get what is left. */
function cutTexts(content: Content): Content {
  const limit = resultBytes - reserve;
  const items = listSteps.find((step) => fits(content, { text: leastText, items: step }, limit)) ?? 0;
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(content, { text: middle, items }, limit)) low = middle;
    else high = middle - 1;
  }
  return shortened(content, { text: low, items }) as Content;
}

/** How long a text may be, in UTF-16 units, and how many items a list inside of another value may have. */
interface Longest {
  readonly text: number;
  readonly items: number;
}

const whole: Longest = { text: Infinity, items: Infinity };

/** Whether the value has at most so many bytes as JSON, shortened so. Takes no longer for a larger value. */
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

/** The same, shortened. */
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
