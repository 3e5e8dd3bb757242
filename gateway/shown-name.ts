// Repeats a name out of a request to its sender, whatever the name holds.

const longest = 64;

/** The name cut to 64 UTF-16 units, with U+FFFD for a lone surrogate, which is not text; an empty one in quotes. */
export function shownName(name: string): string {
  if (name === "") return '""';
  const cut = Buffer.from(name.slice(0, longest)).toString();
  return name.length > longest ? `${cut}…` : cut;
}
