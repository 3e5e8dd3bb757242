// Names of people by origin, and the given names of colleagues, partners and children.
import texts from "./texts/names.json" with { type: "json" };

/** The name of a person. */
export interface Name {
  readonly fullName: string;
  /** In Latin letters, as in email addresses. */
  readonly first: string;
  readonly last: string;
  readonly gender: "f" | "m";
}

/** Given names by gender, and family names. */
export interface NamePool {
  readonly female: readonly string[];
  readonly male: readonly string[];
  readonly family: readonly string[];
  readonly familyFirst: boolean;
}

/** The origin of a name. */
export type Origin = keyof typeof texts.pools;

/** Names in Latin letters, by origin. Family names include particles, hyphens and apostrophes. */
export const namePools = Object.fromEntries(
  Object.entries(texts.pools).map(([origin, { female, male, family, ...rest }]) => [
    origin,
    { female: split(female), male: split(male), family: split(family), familyFirst: "familyFirst" in rest },
  ]),
) as Readonly<Record<Origin, NamePool>>;

/** Names in other scripts. None is the name of a known contact. */
export const nativeNames = texts.native as readonly Name[];

/** Given names of colleagues at a client's company. */
export const colleagues = split(texts.colleagues);

/** Given names of wives, husbands and partners. */
export const partners = split(texts.partners);

/** Given names of children. */
export const children = split(texts.children);

function split(names: string): readonly string[] {
  return names.split(", ");
}
