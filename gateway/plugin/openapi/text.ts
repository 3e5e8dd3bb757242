// The introduction of the API reference: what holds for all operations, and what the specification leaves open.

/** `info` of the document. */
export const info = {
  title: "Records",
  version: "1.0.0",
  description: `The contacts, sessions, transcripts and notes of one account.

**Signing in.** Send an API key with every request, as \`Authorization: Bearer <API_KEY>\`; only the health check asks for none. A person makes the account's one key on the dashboard, where it is shown once, and rotates or revokes it there: from then on it fails with 401. A read-only key on a write fails with 403.

**Answers.** A success is a JSON object with \`data\`; a list that has pages has \`pagination\` beside it. Every field is always present: one without a value is \`null\`, a list without items is \`[]\`. Times are in UTC with milliseconds (\`2026-01-31T09:30:00.000Z\`); ids are UUIDs in lower case, taken in either case. New fields may be added at any time: ignore those that you do not know.

**Requests.** A body is a JSON object in UTF-8 of at most 256 KiB, sent as \`Content-Type: application/json\`. Unknown or repeated properties and values of another type are refused; unknown query parameters are ignored, repeated ones refused. In a body, \`null\` for an optional property of a new record is the same as leaving it out; in a PATCH it clears the field, and a property that is left out stays as it is. Lengths count Unicode characters, and text is kept exactly as it was sent.

**Errors.** Every failure is \`{"error": {"code", "message"}}\`, with \`details\` where single fields are at fault, all of them at once. The checks run in this order, and the first that fails answers: 429 too many requests; 404 unknown path or 405 wrong method; 503 interface disabled; 401; 403; 503 writes paused; 422; 409 for a reused idempotency key; 404 unknown record; 409 duplicate email or archived contact. A record of another account is 404, like one that does not exist. Any request can also end in 503 when it cannot be answered within 5 seconds, and in 500.

**Pages.** \`limit\` and \`offset\` cut the list as it is at the time of each request. When records are added or removed between two requests, a record can be seen twice or missed; \`next_offset\` is \`null\` on the last page.

**Doing a write once.** Where \`Idempotency-Key\` is defined, a request can be repeated safely: for 24 hours the same key with the same operation, path and body gets the first answer again, with \`Idempotent-Replayed: true\`, even when the record was changed since. Spacing and the order of properties do not matter. A repetition that comes while the first request runs waits for its answer. Only successes are remembered: after an error the key is free again.

**Limits.** Requests are counted by API key, without one by address. \`RateLimit-Limit\` says how many are allowed per second and \`RateLimit-Policy\` the same with its window, \`<limit>;w=<seconds>\`; after a pause some more are allowed at once. What remains is not told. A 429 has \`Retry-After\` in whole seconds, and no other status has.

**Tracing.** Every response has \`X-Request-Id\`: yours, when you sent one of 1 to 128 characters out of \`A-Z a-z 0-9 . _ -\`, else a new one. Name it when you report a problem.

**Other methods.** HEAD answers like GET, without a body; OPTIONS tells the methods of a path in \`Allow\`.

**Versions.** Within \`/v1\` changes are additive only. A version that is retired goes on for at least 6 months, with \`Deprecation\` and \`Sunset\` headers on its responses.`,
};
