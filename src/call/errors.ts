// The only table of failures: HTTP status, gRPC code and message by reason.
import { Code } from "@connectrpc/connect";
import { Reason, ReasonSchema } from "../gen/records/v1/errors_pb.ts";

/** The HTTP status and gRPC code of a reason (contract §9), and the message for the user. */
export interface FailureKind {
  readonly http: number;
  readonly code: Code;
  readonly message: string;
}

/** A problem with one field of a request. `field` is spelled as in the request; `message` reads "must …". */
export interface Violation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
  /** The contact that already has the value. */
  readonly contactId?: string;
}

/** Returns a violation's message, followed by the number of violations that the response leaves out. */
export function withMore(message: string, more: number): string {
  return `${message} (and ${more} more)`;
}

/** The values that `records.v1.Reason` defines. */
export type FailureReason = (typeof Reason)[keyof typeof Reason];

/** Every reason of `records.v1.Reason`, with its response. */
export const failures: Readonly<Record<FailureReason, FailureKind>> = {
  [Reason.UNSPECIFIED]: {
    http: 500,
    code: Code.Internal,
    message: "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
  },
  [Reason.MISSING_KEY]: {
    http: 401,
    code: Code.Unauthenticated,
    message: "The API key is missing. Send it as `Authorization: Bearer <API_KEY>`.",
  },
  [Reason.INVALID_KEY]: {
    http: 401,
    code: Code.Unauthenticated,
    message:
      "The API key is not valid: it is malformed, unknown, rotated or revoked. Use the current key of the account.",
  },
  [Reason.ACCESS_DENIED]: {
    http: 403,
    code: Code.PermissionDenied,
    message: "Access denied: this API key is read-only. Use a key with write access.",
  },
  [Reason.NOT_FOUND]: {
    http: 404,
    code: Code.NotFound,
    message: "There is no such record in this account. Check the id.",
  },
  [Reason.UNKNOWN_PATH]: {
    http: 404,
    code: Code.Unimplemented,
    message: "The path does not exist. Check it against the API reference.",
  },
  [Reason.METHOD_NOT_ALLOWED]: {
    http: 405,
    code: Code.Unimplemented,
    message: "The path does not support this method. Use one of its methods.",
  },
  [Reason.DUPLICATE_EMAIL]: {
    http: 409,
    code: Code.AlreadyExists,
    message: "The email is already used by another active contact. Choose another email or update that contact.",
  },
  [Reason.CONTACT_ARCHIVED]: {
    http: 409,
    code: Code.FailedPrecondition,
    message: "The contact is archived, so it cannot be changed. Only the operator can restore it.",
  },
  [Reason.IDEMPOTENCY_KEY_REUSED]: {
    http: 409,
    code: Code.Aborted,
    message: "The Idempotency-Key was already used with another request. Use a new key.",
  },
  [Reason.INVALID_REQUEST]: {
    http: 422,
    code: Code.InvalidArgument,
    message: "The request is not valid. Check its parameters and its body.",
  },
  [Reason.RATE_LIMITED]: {
    http: 429,
    code: Code.ResourceExhausted,
    message: "Too many requests. Try again in a moment.",
  },
  [Reason.INTERFACE_DISABLED]: {
    http: 503,
    code: Code.Unavailable,
    message: "The public interface is temporarily disabled. Try again later.",
  },
  [Reason.WRITES_PAUSED]: {
    http: 503,
    code: Code.Unavailable,
    message: "Writes are temporarily unavailable, but reads work. Try again later.",
  },
  [Reason.UNAVAILABLE]: {
    http: 503,
    code: Code.Unavailable,
    message: "The service cannot respond right now. Try again.",
  },
  [Reason.INTERNAL]: {
    http: 500,
    code: Code.Internal,
    message: "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
  },
  [Reason.MALFORMED_HTTP]: {
    http: 400,
    code: Code.InvalidArgument,
    message: "The HTTP request is malformed. Check its request line, headers and the framing of its body.",
  },
  [Reason.REQUEST_TIMEOUT]: {
    http: 408,
    code: Code.DeadlineExceeded,
    message: "The HTTP request did not arrive in time. Send it again.",
  },
  [Reason.EXPECTATION_FAILED]: {
    http: 417,
    code: Code.Unimplemented,
    message: "Expect: must be `100-continue`.",
  },
  [Reason.HEADERS_TOO_LARGE]: {
    http: 431,
    code: Code.InvalidArgument,
    message: "The HTTP headers are too large. Send fewer or shorter headers.",
  },
  [Reason.INVALID_SERVICE_TOKEN]: {
    http: 401,
    code: Code.Unauthenticated,
    message:
      "The service token is missing or not valid. Send one of SERVICE_TOKENS as `Authorization: Bearer <SERVICE_TOKEN>`.",
  },
  [Reason.ALREADY_EXISTS]: {
    http: 409,
    code: Code.AlreadyExists,
    message: "A record with this value already exists. Use another value.",
  },
  [Reason.NOT_SIGNED_IN]: {
    http: 401,
    code: Code.Unauthenticated,
    message: "You are not signed in. Sign in on the dashboard. An API key is not accepted here.",
  },
  [Reason.NO_ACCOUNT]: {
    http: 403,
    code: Code.PermissionDenied,
    message: "The signed-in user has no account. Ask the operator of the service to link one.",
  },
  [Reason.FOREIGN_ORIGIN]: {
    http: 403,
    code: Code.PermissionDenied,
    message: "Origin: must be that of the dashboard. Use the dashboard's own pages.",
  },
  [Reason.NOT_ENROLLED]: {
    http: 403,
    code: Code.PermissionDenied,
    message: "The account is not enrolled in the beta. Ask the operator of the service to enrol it.",
  },
  [Reason.NO_API_KEY]: {
    http: 404,
    code: Code.NotFound,
    message: "The account has no API key. Create one on the dashboard.",
  },
  [Reason.API_KEY_EXISTS]: {
    http: 409,
    code: Code.AlreadyExists,
    message: "The account already has an API key. Rotate it, or revoke it first.",
  },
  [Reason.SIGN_IN_FAILED]: {
    http: 400,
    code: Code.InvalidArgument,
    message: "The sign-in failed. Sign in again.",
  },
  [Reason.INVALID_LOGOUT_TOKEN]: {
    http: 400,
    code: Code.InvalidArgument,
    message: "The logout_token is not valid. Send one that the identity provider signed for this service.",
  },
  [Reason.UNSUPPORTED_MEDIA_TYPE]: {
    http: 415,
    code: Code.Unimplemented,
    message:
      "Content-Type: must be application/json or application/proto (Connect), application/grpc or application/grpc-web (also with +json or +proto).",
  },
  [Reason.INVALID_TOKEN]: {
    http: 401,
    code: Code.Unauthenticated,
    message: "The access token is missing. Sign in, and send the token as Authorization: Bearer <ACCESS_TOKEN>.",
  },
  [Reason.DEADLINE_EXCEEDED]: {
    http: 504,
    code: Code.DeadlineExceeded,
    message: "The deadline of the request has passed. Allow more time, or request less data.",
  },
  [Reason.ACCOUNT_SUSPENDED]: {
    http: 403,
    code: Code.PermissionDenied,
    message: "The account is suspended. Ask the operator of the service to resume it.",
  },
  [Reason.CANCELLED]: {
    http: 499,
    code: Code.Canceled,
    message: "The client cancelled the request. Send it again if you need the response.",
  },
};

/** Returns the name of a reason, without the prefix of its enum. */
export function reasonName(reason: FailureReason): string {
  return ReasonSchema.value[reason].name.replace(/^REASON_/, "");
}

/** The details of a failure beyond its reason. */
export interface FailureOptions {
  /** A more specific message than the table's. */
  readonly message?: string;
  readonly violations?: readonly Violation[];
  /** The number of whole seconds to wait; only with RATE_LIMITED. */
  readonly retryAfterSeconds?: number;
  /** The methods that the path supports; only with METHOD_NOT_ALLOWED. */
  readonly allow?: string;
  /** Only for the log: it never leaves the service. */
  readonly cause?: unknown;
  /** Only for the log: the cause in a word or two, if the service failed the request without an error. */
  readonly because?: string;
  /** Only for the log: the wait during which the request failed. */
  readonly waitingFor?: string | undefined;
}

/** An error that ends a request, and that the caller sees. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly reason: FailureReason;
  readonly violations: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  readonly because: string | undefined;
  readonly waitingFor: string | undefined;

  constructor(reason: FailureReason, options: FailureOptions = {}) {
    // A stack trace would take a tenth of a rejection's time, and nobody needs it. A cause has its own.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(options.message ?? failures[reason].message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.reason = reason;
    this.violations = options.violations ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
    this.because = options.because;
    this.waitingFor = options.waitingFor;
  }

  /** The name of the reason, for the log. */
  get reasonName(): string {
    return reasonName(this.reason);
  }

  /** The contact that already has a value of the request. */
  get contactId(): string | undefined {
    return this.violations.find(({ contactId }) => contactId !== undefined)?.contactId;
  }

  /** The status, code and message of the reason. */
  get kind(): FailureKind {
    return failures[this.reason];
  }
}

/** Fails with this reason. */
export function fail(reason: FailureReason, options?: FailureOptions): never {
  throw new Failure(reason, options);
}

/** Fails with INVALID_REQUEST and a message that names every problem (contract §2.5). */
export function rejectInput(violations: readonly Violation[]): never {
  throw inputFailure(violations);
}

/** Returns the failure INVALID_REQUEST with a message that names every problem (contract §2.5). */
export function inputFailure(violations: readonly Violation[]): Failure {
  const message = violations.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
  return new Failure(Reason.INVALID_REQUEST, { message, violations });
}

/** Returns the failure for an error. An unknown error becomes INTERNAL, with the error as its cause for the log. */
export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure(Reason.INTERNAL, { cause: error });
}

/** Whether a failure has an error line in the log: an unexpected error, or a request that failed for a known cause. */
export function isForTheLog({ kind, cause }: Failure): boolean {
  return kind.http === 500 || (kind.http > 500 && cause !== undefined);
}

/**
 * Whether a failure is a warning in the log: the provider's response to a sign-in was invalid. The service has not
 * failed, but this may affect every user, and only the operator can fix it.
 */
export function isWarning({ reason, cause }: Failure): boolean {
  return reason === Reason.SIGN_IN_FAILED && cause !== undefined;
}

/** Whether only the identity provider sees the response, so that the operator needs the reason in the log. */
export function isForTheProvider({ reason }: Failure): boolean {
  return reason === Reason.INVALID_LOGOUT_TOKEN;
}
