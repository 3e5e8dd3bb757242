// Reads the error code of the system or of a library, such as ECONNREFUSED, from nested errors.

/**
 * Returns the code of the innermost error that has one: of its cause, or of the first of several errors. Returns
 * undefined if none has a code.
 */
export function innermostCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  const code = (error as NodeJS.ErrnoException).code as unknown;
  return innermostCode(inner) ?? (typeof code === "string" ? code : undefined);
}
