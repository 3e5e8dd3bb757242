// Serializer of errors for the log: class, codes and our own stack frames. It never shows the message, which may
// contain the text of a record.
import { Failure } from "../call/errors.ts";

/** An error as the log shows it. Properties that the error lacks are left out. */
export interface LoggedError {
  /** The name of its class. */
  readonly type: string;
  /** The code of the driver, of Redis or of Node: a number, or a name such as `ECONNREFUSED`. */
  readonly code?: string | number;
  readonly code_name?: string | number;
  /** The OAuth error code of the identity provider. */
  readonly oauth_error?: string | number;
  /** The HTTP status of the identity provider's response. */
  readonly status?: string | number;
  /** MongoDB's labels, which show whether a retry is possible. */
  readonly labels?: readonly (string | number)[];
  /** The name of a `records.v1.Reason`, if the error is a failure of ours. */
  readonly reason?: string | number;
  /** The call to the operating system that failed. */
  readonly syscall?: string | number;
  /** The stack frames in our own files, innermost first. */
  readonly stack?: readonly string[];
  readonly cause?: LoggedError;
  /** The first errors of those that occurred together. */
  readonly errors?: readonly LoggedError[];
}

/** Matches names and codes. A text that is longer or has blanks could come from a user. */
const word = /^[\w.$-]{1,64}$/;
const place = /:\d+:\d+\)?$/;
const maxFrames = 8;
const maxDepth = 4;
const maxTogether = 3;

/** Returns the facts of any thrown value. */
export function loggedError(error: unknown, deep = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error };
  const of = error as Error & Readonly<Record<string, unknown>>;
  const labels = Array.isArray(of["errorLabels"]) ? of["errorLabels"].filter(isWord) : [];
  const stack = framesOf(error);
  const inner = deep < maxDepth;
  return {
    type: word.test(error.name) ? error.name : "Error",
    ...wordOf("code", of["code"]),
    ...wordOf("code_name", of["codeName"]),
    ...(isOauth(of) ? { ...wordOf("oauth_error", of["error"]), ...wordOf("status", of["status"]) } : {}),
    ...(labels.length === 0 ? {} : { labels }),
    ...wordOf("reason", of["reasonName"]),
    ...wordOf("syscall", of["syscall"]),
    ...(stack.length === 0 ? {} : { stack }),
    ...(inner && error.cause !== undefined ? { cause: loggedError(error.cause, deep + 1) } : {}),
    ...(inner && error instanceof AggregateError
      ? { errors: error.errors.slice(0, maxTogether).map((one) => loggedError(one, deep + 1)) }
      : {}),
  };
}

/**
 * Returns one line about an error for an operator. Shows the message of a plain `Error` without a code and of a
 * `Failure`, which are our own sentences. Shows that of an error with a `syscall`, which is Node's. Any other message
 * comes from a library or a server, which may include values of records. For those, shows only the class, the codes and
 * the first stack frame.
 */
export function shownError(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown value is not an error (${typeof error})`;
  if (error instanceof Failure) {
    const { message, because, cause } = error;
    const why = because ?? (cause === undefined ? undefined : factsOf(loggedError(cause)));
    return why === undefined ? message : `${message} (${why})`;
  }
  const facts = loggedError(error);
  const isPlain = Object.getPrototypeOf(error) === Error.prototype && facts.code === undefined;
  return isPlain || facts.syscall !== undefined ? error.message : factsOf(facts);
}

function factsOf({ type, code, code_name: name, stack }: LoggedError): string {
  const facts = [type, code, name].filter((fact) => fact !== undefined).join(" ");
  return stack?.[0] === undefined ? facts : `${facts} at ${stack[0]}`;
}

/** Whether the OpenID Connect library created the error. Only its errors have an OAuth error code. */
function isOauth({ code }: Readonly<Record<string, unknown>>): boolean {
  return typeof code === "string" && code.startsWith("OAUTH_");
}

function isWord(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && word.test(value));
}

function wordOf<Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: string | number } {
  return (isWord(value) ? { [name]: value } : {}) as { readonly [name in Name]?: string | number };
}

/** Returns the stack frames in our own files. The stack begins with the message, which may have several lines. */
function framesOf({ stack = "", message }: Error): string[] {
  const at = stack.indexOf(message);
  const below = at === -1 ? "" : stack.slice(at + message.length);
  return below
    .split("\n")
    .filter(
      (line) =>
        line.startsWith("    at ") && place.test(line) && !line.includes("node_modules") && !line.includes("node:"),
    )
    .map((line) => line.trim().slice("at ".length))
    .slice(0, maxFrames);
}
