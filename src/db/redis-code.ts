// The code of an error that Redis answered with.

/** Such as `WRONGPASS`; undefined where the error is not an answer of Redis. The protocol has no other place for it than the first word. */
export function replyCode(error: unknown): string | undefined {
  return error instanceof Error && error.name === "ReplyError" ? /^[A-Z]{1,30}(?= )/.exec(error.message)?.[0] : undefined;
}
