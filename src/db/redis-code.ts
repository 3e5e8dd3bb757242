// Error codes of Redis replies.

/** Whether Redis replied with an error: it is available, but did not execute the command. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/**
 * Returns the code of an error reply, such as `WRONGPASS`; undefined for any other error. Redis before 7 replies to a
 * script with `ERR`, and repeats the reply to the script's own command after a hyphen.
 */
export function replyCode(error: unknown): string | undefined {
  if (!isReply(error)) return undefined;
  const [code] = /^[A-Z]{1,30}(?= )/.exec(error.message) ?? [];
  return (code === "ERR" ? /: -([A-Z]{1,30}) /.exec(error.message)?.[1] : undefined) ?? code;
}
