// Recognizes the columns of emails and phones whose names no program is known for, by their words.
import wordsByGroup from "./csv-header-words.json" with { type: "json" };

const groups: ReadonlyMap<string, string> = new Map(
  Object.entries<readonly string[]>(wordsByGroup).flatMap(([group, all]) =>
    all.map((word) => [plain(word), group] as const),
  ),
);

/** The kinds of numbers: the first that a header names is the kind of its column. */
const phoneKinds = ["phone_fax", "phone_pager", "phone_mobile", "phone_work", "phone_home", "phone"];
/** What a header of a phone must name, besides the kind of number. */
const phones = ["phone", "phone_mobile", "phone_fax", "phone_pager"];

/** Returns the target of a header if all its words are known. `isSecondary` is whether another column comes first. */
export function targetByWords(header: string): { readonly target: string; readonly isSecondary: boolean } | undefined {
  const words = plain(header.replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 "));
  const found = new Set<string>();
  for (const [word] of words.replace(/\be\P{L}?mail/gu, "email").matchAll(/\p{L}+/gu)) {
    const group = groups.get(word);
    if (group === undefined) return undefined;
    found.add(group);
  }
  const isPhone = phones.some((one) => found.has(one));
  if (isPhone === found.has("email")) return undefined;
  const target = isPhone ? phoneKinds.find((one) => found.has(one)) : "email";
  return target === undefined ? undefined : { target, isSecondary: found.has("secondary") };
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ł", "l");
}
