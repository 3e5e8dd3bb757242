// The textual form of a UUID.

/** Matches a hyphenated UUID of any version and in either case (RFC 9562 §4). */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
