// Templates of sentences, as in the files of `texts`: alternatives in brackets, and slots in braces.
import type { Random } from "./random.ts";
import { pick } from "./random.ts";

/** The texts for the names in braces. A function draws a new text each time. */
export type Slots = Readonly<Record<string, string | (() => string)>>;

const marks = /\[([^[\]]*)\]|\{(\w+)\}/g;

/**
 * Replaces each `[one|other]` with one of its alternatives, and each `{name}` with its slot. Replacements are
 * templates, too. `{Name}` is the slot `name` with an initial capital. Fails if a name has no slot.
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

/** Returns the slug of a title: "Action items" becomes "action-items". */
export function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
