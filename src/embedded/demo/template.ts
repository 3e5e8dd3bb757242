// Templates: sentences with alternatives in brackets and names in braces, as the files of `texts` hold them.
import type { Random } from "./random.ts";
import { pick } from "./random.ts";

/** What stands for a name in braces; a function draws anew each time. */
export type Slots = Readonly<Record<string, string | (() => string)>>;

const marks = /\[([^[\]]*)\]|\{(\w+)\}/g;

/**
 * Puts one of the alternatives in the place of each `[one|other]` and its slot in the place of each `{name}`; what
 * comes in is filled likewise. `{Name}` is the slot `name` with a capital. Fails on a name without a slot.
 */
export function fill(template: string, slots: Slots, random: Random): string {
  return template.replace(marks, (_, alternatives: string | undefined, name: string) => {
    if (alternatives !== undefined) return fill(pick(random, alternatives.split("|")), slots, random);
    const own = slots[name];
    const slot = own ?? slots[name.charAt(0).toLowerCase() + name.slice(1)];
    if (slot === undefined) throw new Error(`no slot for {${name}} in "${template}"`);
    const text = fill(typeof slot === "function" ? slot() : slot, slots, random);
    return own === undefined ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  });
}

/** A title as a word for addresses: "Action items" is "action-items". */
export function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
