// The code of an error reply of Redis.

/** Whether Redis replied with an error: it is there, and did not execute the command. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** The code, such as `WRONGPASS`: the first word of the reply. Undefined where the error is not a reply of Redis. */
export function replyCode(error: unknown): string | undefined {
  return isReply(error) ? /^[A-Z]{1,30}(?= )/.exec(error.message)?.[0] : undefined;
}
