// What the rpcs come to that REST does not have.
import { Code } from "@connectrpc/connect";

/** The records that requests name: the account's own, and another's. */
export interface Records {
  readonly contact: string;
  readonly session: string;
  readonly strangers: { readonly contact: string; readonly session: string };
}

/** One call, and what it must come to on every wire of rpc. */
export interface BeyondCase {
  readonly title: string;
  readonly rpc: "SearchTranscripts";
  readonly code: "ok" | Code;
  readonly hasKey?: boolean;
  request(of: Records): { query: string; sessionId?: string; contactId?: string };
  /** The texts of the passages. */
  readonly found?: readonly string[];
}

const unknown = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const search = { rpc: "SearchTranscripts" } as const;

export const beyondCases: readonly BeyondCase[] = [
  {
    ...search,
    title: "the passage of a session",
    code: "ok",
    request: ({ session }) => ({ query: "hello", sessionId: session }),
    found: ["Hello."],
  },
  {
    ...search,
    title: "the passages of a contact's sessions",
    code: "ok",
    request: ({ contact }) => ({ query: "HELL", contactId: contact.toUpperCase() }),
    found: ["Hello."],
  },
  {
    ...search,
    title: "no passage without the words",
    code: "ok",
    request: ({ session }) => ({ query: "bye", sessionId: session }),
    found: [],
  },
  {
    ...search,
    title: "no passage of another account's contact",
    code: "ok",
    request: ({ strangers }) => ({ query: "hello", contactId: strangers.contact }),
    found: [],
  },
  {
    ...search,
    title: "another account's session is not found",
    code: Code.NotFound,
    request: ({ strangers }) => ({ query: "hello", sessionId: strangers.session }),
  },
  {
    ...search,
    title: "an unknown session is not found",
    code: Code.NotFound,
    request: () => ({ query: "hello", sessionId: unknown }),
  },
  { ...search, title: "neither session nor contact", code: Code.InvalidArgument, request: () => ({ query: "hello" }) },
  {
    ...search,
    title: "both session and contact",
    code: Code.InvalidArgument,
    request: ({ session, contact }) => ({ query: "hello", sessionId: session, contactId: contact }),
  },
  {
    ...search,
    title: "what is no uuid",
    code: Code.InvalidArgument,
    request: () => ({ query: "hello", sessionId: "1" }),
  },
  {
    ...search,
    title: "a query of one letter",
    code: Code.InvalidArgument,
    request: ({ session }) => ({ query: "h", sessionId: session }),
  },
  {
    ...search,
    title: "no key",
    code: Code.Unauthenticated,
    hasKey: false,
    request: ({ session }) => ({ query: "hello", sessionId: session }),
  },
];
