// The introduction of the API reference: rules for all operations, and details that the specification leaves open.

/** `info` of the document. */
export const info = {
  title: "Records",
  version: "1.0.0",
  license: { name: "MIT", identifier: "MIT" },
  contact: { name: "The operator of this service", url: "/" },
  description: `The contacts, sessions, transcripts and notes of one account.

## Signing in

Send an API key with every request, as \`Authorization: Bearer <API_KEY>\`. Only the health check needs no credential. The operations on the API key and the audit log need the cookie of a dashboard session instead. A user creates the account's one key on the dashboard, where it is shown once. After a rotation or a revocation the old key gets 401. A write with a read-only key gets 403, and so does every request of a suspended account.

## Responses

A success is a JSON object with \`data\`. A list that has pages also has \`pagination\`. Every field is always present: one without a value is \`null\`, and a list without items is \`[]\`. Times are in UTC with milliseconds (\`2026-01-31T09:30:00.000Z\`). Ids are UUIDs in lower case, accepted in either case. New fields can be added at any time, so ignore fields that you do not know.

## Requests

A body is a JSON object in UTF-8 of at most 256 KiB, sent as \`Content-Type: application/json\`. It has at most 100 levels of arrays and objects. Unknown properties, repeated properties and values of another type are rejected. Unknown query parameters are ignored, and repeated ones are rejected. In the body of a new record, \`null\` for an optional property is the same as leaving it out. In a PATCH, \`null\` clears the field, and a property that is left out stays as it is. Lengths count Unicode characters, and text is kept exactly as it was sent.

## Errors

Every error is \`{"error": {"code", "message", "reason"}}\`. Programs use \`reason\`. If single fields are invalid, \`details\` lists all of them (of unknown names, the first 50). The checks run in this order, and the first one that fails decides the response:

1. 429: too many requests
2. 404: unknown path, or 405: wrong method
3. 503: interface disabled
4. 401: credential missing or invalid
5. 403: access denied
6. 503: writes paused
7. 422: invalid request
8. 409: idempotency key used with another request
9. 404: unknown record
10. 409: duplicate email or archived contact

A record of another account is 404, like one that does not exist. Any request can also fail with 500, or with 503 if the service cannot respond within 5 seconds.

## Pages

\`limit\` and \`offset\` select a part of the list as it is at the time of each request. If records are added or removed between two requests, a record can be seen twice or missed. \`next_offset\` is \`null\` on the last page.

## Retrying a write

If an operation accepts \`Idempotency-Key\`, you can safely repeat the request. For 24 hours, repeating the request with the same key returns the original response, even if the record has changed since. It then has the header \`Idempotent-Replayed: true\`. Spacing and the order of properties do not matter. A retry that arrives while the first request runs waits for its response. Only successes are stored: after an error, the key can be used again.

## Limits

Requests are counted per account, across its API key, its dashboard and its assistants. Requests without a valid credential are counted by client address. \`RateLimit-Limit\` is the number of requests per second, and \`RateLimit-Policy\` the same with its window, \`<limit>;w=<seconds>\`. After a pause, short bursts are allowed. The number of remaining requests is not sent. A 429 has \`Retry-After\` in whole seconds, and no other status has it.

## Tracing

Every response has \`X-Request-Id\`. If you send your own (1 to 128 characters from \`A-Z a-z 0-9 . _ -\`), the response has the same one. Otherwise the service creates one. Include it when you report a problem.

## Other methods

HEAD responds like GET, without a body. OPTIONS lists the methods of a path in \`Allow\`.

## Versions

Within \`/v1\` changes are additive only. A version that is retired continues for at least 6 months, with \`Deprecation\` and \`Sunset\` headers on its responses.`,
};
