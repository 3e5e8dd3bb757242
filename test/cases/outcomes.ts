// What several cases come to.

export const invalid = { http: 422, code: "invalid_argument", reason: "INVALID_REQUEST" } as const;
export const notFound = {
  http: 404,
  code: "not_found",
  reason: "NOT_FOUND",
  message: "There is no such record in this account. Check the id.",
} as const;
/** A record that was made: what of it differs from run to run. */
export const created = {
  http: 201,
  code: "ok",
  volatile: ["id", "email", "full_name", "phone", "content", "created_at", "updated_at"],
} as const;
/** The id of no record. */
export const unknown = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
