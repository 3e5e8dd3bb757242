// Serializer of errors for the log: class, codes and own stack frames, never the message, which may contain the text of
// a record.
import { Failure } from "./errors.ts";

/** An error as the log shows it; what an error does not have is left out. */
export interface LoggedError {
  /** The name of its class. */
  readonly type: string;
  /** The driver's, Redis's or Node's own code: a number or a name such as `ECONNREFUSED`. */
  readonly code?: string | number;
  readonly code_name?: string | number;
  /** By which MongoDB says what may be tried again. */
  readonly labels?: readonly (string | number)[];
  /** Why the service failed the request, where it is a failure of ours: the name of a `records.v1.Reason`. */
  readonly reason?: string | number;
  /** The call to the operating system that failed. */
  readonly syscall?: string | number;
  /** Where it was raised, in our own files; the innermost first. */
  readonly stack?: readonly string[];
  readonly cause?: LoggedError;
  /** The first of those that failed together. */
  readonly errors?: readonly LoggedError[];
}

/** Names and codes are words of programs; anything longer, or with blanks, could be text of somebody's. */
const word = /^[\w.$-]{1,64}$/;
const place = /:\d+:\d+\)?$/;
const mostFrames = 8;
const mostDeep = 4;
const mostTogether = 3;

/** The facts of anything that was thrown. */
export function loggedError(error: unknown, deep = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error };
  const of = error as Error & Readonly<Record<string, unknown>>;
  const labels = Array.isArray(of["errorLabels"]) ? of["errorLabels"].filter(isWord) : [];
  const stack = framesOf(error);
  const inner = deep < mostDeep;
  return {
    type: word.test(error.name) ? error.name : "Error",
    ...wordOf("code", of["code"]),
    ...wordOf("code_name", of["codeName"]),
    ...(labels.length === 0 ? {} : { labels }),
    ...wordOf("reason", of["reasonName"]),
    ...wordOf("syscall", of["syscall"]),
    ...(stack.length === 0 ? {} : { stack }),
    ...(inner && error.cause !== undefined ? { cause: loggedError(error.cause, deep + 1) } : {}),
    ...(inner && error instanceof AggregateError
      ? { errors: error.errors.slice(0, mostTogether).map((one) => loggedError(one, deep + 1)) }
      : {}),
  };
}

/**
 * An error in one line for an operator. A plain `Error` and a `Failure` are sentences of our own, and an error with a
 * `syscall` is Node's. Any other message comes from a library or a server, which may put the values of records into it:
 * of that only class and codes are shown.
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

function isWord(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && word.test(value));
}

function wordOf<Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: string | number } {
  return (isWord(value) ? { [name]: value } : {}) as { readonly [name in Name]?: string | number };
}

/** The stack begins with the message, of as many lines as it has. */
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
    .slice(0, mostFrames);
}
