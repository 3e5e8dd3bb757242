// The outcomes of cases: each takes the request, and what is particular to the case.
import type { Fields } from "../fixtures/clients/wires.ts";
import type { Case, World } from "../support/run-cases.ts";

type Request = Fields | ((world: World) => Fields);
type Outcome = Omit<Case, "title" | "rpc">;
type More = Pick<Partial<Case>, "key" | "idempotencyKey" | "rest" | "restMessage">;
type Check = Case["check"];

/** The cases of an rpc, by their titles: statements, with the ids of their clauses. */
export function casesOf(rpc: Case["rpc"], cases: Readonly<Record<string, Outcome>>): Case[] {
  return Object.entries(cases).map(([title, outcome]) => ({ title, rpc, ...outcome }) as Case);
}

function succeeds(http: number, volatile: readonly string[]) {
  return (request: Request, check?: Check, more: More = {}): Outcome => ({
    ...{ http, code: "ok", volatile },
    request: asFunction(request),
    ...(check && { check }),
    ...more,
  });
}

export const accepts = succeeds(200, []);
export const updates = succeeds(200, ["updated_at"]);
/** Ignores the fields of a created record that differ from call to call. */
export const creates = succeeds(201, ["id", "email", "full_name", "phone", "content", "created_at", "updated_at"]);

export function fails(request: Request, failure: Omit<Outcome, "request">): Outcome {
  return { request: asFunction(request), ...failure };
}

export const rejects = (request: Request, message: string, more: More = {}): Outcome =>
  fails(request, { http: 422, code: "invalid_argument", reason: "INVALID_REQUEST", message, ...more });

export const missing = (request: Request): Outcome =>
  fails(request, {
    http: 404,
    code: "not_found",
    reason: "NOT_FOUND",
    message: "There is no such record in this account. Check the id.",
  });

export const unauthenticated = (request: Request): Outcome =>
  fails(request, {
    http: 401,
    code: "unauthenticated",
    reason: "MISSING_KEY",
    message: "The API key is missing. Send it as `Authorization: Bearer <API_KEY>`.",
    key: () => null,
  });

export const forbidden = (request: Request): Outcome =>
  fails(request, {
    http: 403,
    code: "permission_denied",
    reason: "ACCESS_DENIED",
    message: "Access denied: this API key is read-only. Use a key with write access.",
    key: ({ reader }) => reader.key,
  });

export const locked = (request: Request): Outcome =>
  fails(request, {
    http: 409,
    code: "failed_precondition",
    reason: "CONTACT_ARCHIVED",
    message: "The contact is archived, so it cannot be changed. Only the operator can restore it.",
  });

function asFunction(request: Request): (world: World) => Fields {
  return typeof request === "function" ? request : () => request;
}

/** The id of no record. */
export const unknown = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
