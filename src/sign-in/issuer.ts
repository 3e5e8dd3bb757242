// Compares the configured issuer with the one that a metadata document names.

/** Whether both are equal apart from a trailing slash, which providers and operators do not write consistently. */
export function isSameIssuer(configured: string, reported: unknown): boolean {
  return typeof reported === "string" && reported.replace(/\/$/, "") === configured.replace(/\/$/, "");
}
