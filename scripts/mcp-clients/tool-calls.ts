// One call of each tool, with arguments taken from earlier results, so that each returns the demo's data.

/** Values from earlier results. */
export interface Seen {
  contact: string;
  name: string;
  session: string;
}

type Content = Readonly<Record<string, unknown>>;

export interface ToolCall {
  readonly tool: string;
  given(seen: Seen): Record<string, unknown>;
  /** Stores what later calls need. */
  keep?(content: Content, seen: Seen): void;
  /** A text that the requested data must contain. */
  expected(seen: Seen): string;
}

export const toolCalls: readonly ToolCall[] = [
  {
    tool: "search_contacts",
    given: () => ({ query: "ann lee", brief: true, limit: 5 }),
    keep(content, seen) {
      seen.contact = textAt(content, "data", 0, "id");
      seen.name = textAt(content, "data", 0, "full_name");
    },
    expected: () => "Ann Lee",
  },
  { tool: "get_contact", given: ({ contact }) => ({ contact_id: contact }), expected: ({ name }) => name },
  {
    tool: "list_sessions",
    given: ({ contact }) => ({ contact_id: contact, has_transcript: true, limit: 1 }),
    keep(content, seen) {
      seen.session = textAt(content, "data", 0, "id");
    },
    expected: ({ contact }) => contact,
  },
  { tool: "get_session", given: ({ session }) => ({ session_id: session }), expected: ({ session }) => session },
  {
    tool: "get_session_transcript",
    given: ({ session }) => ({ session_id: session }),
    expected: ({ session }) => session,
  },
  {
    tool: "search_transcripts",
    given: ({ contact, name }) => ({ contact_id: contact, query: name.split(" ")[0] }),
    expected: ({ session }) => session,
  },
  { tool: "search_notes", given: ({ contact }) => ({ contact_id: contact }), expected: ({ contact }) => contact },
  { tool: "search", given: ({ name }) => ({ query: name }), expected: ({ contact }) => `contact:${contact}` },
  { tool: "fetch", given: ({ contact }) => ({ id: `contact:${contact}` }), expected: ({ name }) => name },
  // The first user of the demo.
  { tool: "whoami", given: () => ({}), expected: () => "demo@example.com" },
];

/** The string at a path; empty if there is none. */
function textAt(content: unknown, ...path: readonly (string | number)[]): string {
  const found = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], content);
  return typeof found === "string" ? found : "";
}
