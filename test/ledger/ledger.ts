// How the clauses of the ledger and the citations of the tests go together.

/** What is cited: by clause, the files. */
export type Citations = ReadonlyMap<string, readonly string[]>;

/** The clauses that no test cites, and that are not said to be out of reach. */
export function uncited(clauses: readonly string[], cited: Citations, later: ReadonlyMap<string, string>): string[] {
  return clauses.filter((clause) => !cited.has(clause) && !later.has(clause));
}

/** The citations of clauses that are not in the ledger. */
export function unknown(clauses: readonly string[], cited: Citations): string[] {
  return [...cited].filter(([clause]) => !clauses.includes(clause)).map(([clause, files]) => `${files[0]}: ${clause}`);
}

/** What is wrong with the clauses that are said to be out of reach. */
export function misplaced(clauses: readonly string[], cited: Citations, later: ReadonlyMap<string, string>): string[] {
  return [...later].flatMap(([clause, reason]) => [
    ...(clauses.includes(clause) ? [] : [`${clause} is not in the ledger`]),
    ...(reason.length > 10 ? [] : [`${clause} has no reason`]),
    ...(cited.has(clause) ? [`${clause} is cited`] : []),
  ]);
}

/** The clauses that are written more than once. */
export function repeated(clauses: readonly string[]): string[] {
  return clauses.filter((clause, at) => clauses.indexOf(clause) !== at);
}

/** Every id that looks like one, of whatever area: a wrong one is found too. */
export const anyId = /\b[A-Z]{3}-\d{2}\b/g;
