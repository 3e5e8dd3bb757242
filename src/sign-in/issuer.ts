// Comparison of the configured issuer with the one that a metadata document names.

/** Whether they are equal but for a slash at the end: providers differ in it from what operators write. */
export function isSameIssuer(configured: string, reported: unknown): boolean {
  return typeof reported === "string" && reported.replace(/\/$/, "") === configured.replace(/\/$/, "");
}
