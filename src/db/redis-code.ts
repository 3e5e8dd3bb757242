// Error codes of Redis replies.

/** Whether Redis replied with an error: it is available, but did not execute the command. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** Returns the first word of an error reply, such as `WRONGPASS`; undefined for any other error. */
export function replyCode(error: unknown): string | undefined {
  return isReply(error) ? /^[A-Z]{1,30}(?= )/.exec(error.message)?.[0] : undefined;
}
