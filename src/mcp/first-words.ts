// Cuts a text to the length that a search accepts.

const longest = 100;

/** Returns as many whole words of a text as fit in 100 characters. Cuts a first word that is longer. */
export function truncateQuery(text: string): string {
  const characters = [...text.trim()];
  if (characters.length <= longest) return characters.join("");
  // One character more than fits, so that a word that ends exactly at the limit is kept whole.
  const cut = characters.slice(0, longest + 1).join("");
  const end = cut.search(/\s\S*$/);
  return end > 0 ? cut.slice(0, end).trimEnd() : characters.slice(0, longest).join("");
}
