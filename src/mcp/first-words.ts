// A text cut to what a search takes of it.

const longest = 100;

/** As many whole words of a text as 100 characters hold. */
export function firstWords(text: string): string {
  const characters = [...text.trim()];
  if (characters.length <= longest) return characters.join("");
  // One more than fit: where a word ends exactly at the limit, it is whole.
  const cut = characters.slice(0, longest + 1).join("");
  const end = cut.search(/\s\S*$/);
  return end > 0 ? cut.slice(0, end).trimEnd() : characters.slice(0, longest).join("");
}
