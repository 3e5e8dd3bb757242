// The code of an error reply of Redis.

/** The code, such as `WRONGPASS`: the first word of the reply. Undefined where the error is not a reply of Redis. */
export function replyCode(error: unknown): string | undefined {
  return error instanceof Error && error.name === "ReplyError"
    ? /^[A-Z]{1,30}(?= )/.exec(error.message)?.[0]
    : undefined;
}
