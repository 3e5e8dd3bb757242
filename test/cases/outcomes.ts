// Outcomes that several cases share.

export const invalid = { http: 422, code: "invalid_argument", reason: "INVALID_REQUEST" } as const;
export const notFound = {
  http: 404,
  code: "not_found",
  reason: "NOT_FOUND",
  message: "There is no such record in this account. Check the id.",
} as const;
export const withoutKey = {
  http: 401,
  code: "unauthenticated",
  reason: "MISSING_KEY",
  message: "The API key is missing. Send it as `Authorization: Bearer <API_KEY>`.",
} as const;
export const denied = {
  http: 403,
  code: "permission_denied",
  reason: "ACCESS_DENIED",
  message: "Access denied: this API key is read-only. Use a key with write access.",
} as const;
export const archived = {
  http: 409,
  code: "failed_precondition",
  reason: "CONTACT_ARCHIVED",
  message: "The contact is archived, so it cannot be changed. Only the operator can restore it.",
} as const;
/** The fields of a created record that differ from run to run. */
export const created = {
  http: 201,
  code: "ok",
  volatile: ["id", "email", "full_name", "phone", "content", "created_at", "updated_at"],
} as const;
/** The id of no record. */
export const unknown = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
