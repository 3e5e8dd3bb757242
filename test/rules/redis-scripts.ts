// Finds, in the scripts that run in Redis, the commands on other keys than the one that a script is given.

/** The commands of the scripts in a text that name another key than the first, or one that is no literal command. */
export function undeclared(text: string): string[] {
  const calls = [...text.matchAll(/redis\.p?call\(([^)]*)\)/g)].map(([call, inside = ""]) => ({ call, inside }));
  const keys = [...text.matchAll(/KEYS\[(?!1\])[^\]]*\]/g)].map(([key]) => key);
  return [
    ...calls.filter(({ inside }) => !/^'(?:TIME'$|[A-Z]+', KEYS\[1\](?:,|$))/.test(inside)).map(({ call }) => call),
    ...keys,
  ];
}
