// Finds variables that are probably misspelt settings, such as MONGO_URL. They would otherwise be ignored silently.

/** A variable that is not a setting, and the one that was probably meant. */
export interface MisspeltName {
  readonly variable: string;
  readonly meant: string;
}

/**
 * Returns the variables that are like a setting without a value. A setting of one word is like too many variables of
 * the system, such as HOSTNAME.
 */
export function misspeltNames(environment: NodeJS.ProcessEnv, settings: ReadonlySet<string>): MisspeltName[] {
  const unset = [...settings].filter((name) => name.includes("_") && !environment[name]);
  return Object.keys(environment).flatMap((variable) => {
    if (settings.has(variable) || !environment[variable]) return [];
    const meant = unset.find((name) => areLike(variable.toUpperCase().split("_"), name.split("_")));
    return meant === undefined ? [] : [{ variable, meant }];
  });
}

function areLike(words: readonly string[], others: readonly string[]): boolean {
  return words.length === others.length && words.every((word, index) => isLike(word, others[index] ?? ""));
}

/** Whether one word begins with the other, or they differ by one letter that is not the first. */
function isLike(word: string, other: string): boolean {
  let same = 0;
  while (same < word.length && word[same] === other[same]) same++;
  const [rest, otherRest] = [word.slice(same), other.slice(same)];
  if (same === 0) return false;
  if (rest === "" || otherRest === "") return true;
  return rest.slice(1) === otherRest.slice(1) || rest.slice(1) === otherRest || rest === otherRest.slice(1);
}
