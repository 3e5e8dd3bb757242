// The stored names of the search terms and the search text: the only place that knows them.
import type { Terms } from "../search/terms.ts";

/** The field of the search terms. Its name is short because every document and every index definition has it. */
export const termsField = "g";
/** The field of the search text. */
export const textField = "n";

/** The search terms and the search text as fields of a document. */
export interface StoredTerms {
  [textField]: string;
  [termsField]: string[];
}

/** A projection that removes both fields: they are large, and only MongoDB reads them. */
export const withoutTerms = { [textField]: 0, [termsField]: 0 } as const;

/** Returns the fields that store these terms. The text comes first, because checks read it and not the terms. */
export function storedTerms({ searchTerms, searchText }: Terms): StoredTerms {
  return { [textField]: searchText, [termsField]: searchTerms };
}
