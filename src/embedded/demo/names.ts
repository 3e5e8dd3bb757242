// Names by where they come from, and the colleagues, partners and children whom people talk of.
import texts from "./texts/names.json" with { type: "json" };

/** The name of a person. */
export interface Name {
  readonly fullName: string;
  /** In Latin letters, as email addresses spell it. */
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

/** Where names come from. */
export type Origin = keyof typeof texts.pools;

/** Names in Latin letters by origin; families with their particles, hyphens and apostrophes. */
export const namePools = Object.fromEntries(
  Object.entries(texts.pools).map(([origin, { female, male, family, ...rest }]) => [
    origin,
    { female: split(female), male: split(male), family: split(family), familyFirst: "familyFirst" in rest },
  ]),
) as Readonly<Record<Origin, NamePool>>;

/** Names in other scripts. None of them has the name of an anchor. */
export const nativeNames = texts.native as readonly Name[];

/** People at a client's company, by given name. */
export const colleagues = split(texts.colleagues);

/** Wives, husbands and partners. */
export const partners = split(texts.partners);

/** Children. */
export const children = split(texts.children);

function split(names: string): readonly string[] {
  return names.split(", ");
}
