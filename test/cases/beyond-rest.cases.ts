// The cases of the rpcs that REST does not have.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";

/** The records that requests name: the account's own, and another's. */
export interface Records {
  readonly contact: string;
  readonly session: string;
  readonly strangers: { readonly contact: string; readonly session: string };
}

/** The rpcs, by their names. */
export const beyondRpcs = { SearchTranscripts: SessionService.method.searchTranscripts } as const;
type BeyondRpc = keyof typeof beyondRpcs;
type Rpc<Name extends BeyondRpc> = (typeof beyondRpcs)[Name];

/** One call, and its expected outcome on every rpc wire. */
interface Call<Name extends BeyondRpc> {
  readonly title: string;
  readonly rpc: Name;
  readonly code: "ok" | Code;
  readonly hasKey?: boolean;
  request(of: Records): MessageInitShape<Rpc<Name>["input"]>;
  /** What the response must have. */
  readonly response?: (of: Records) => MessageInitShape<Rpc<Name>["output"]>;
}

/** A call of any of the rpcs, with a request of that rpc. */
export type BeyondCase = { [Name in BeyondRpc]: Call<Name> }[BeyondRpc];

const unknown = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const search = { rpc: "SearchTranscripts" } as const;

/** All passages with these texts, which are those of the account's one session. */
function passages(...texts: string[]): Pick<Call<"SearchTranscripts">, "response"> {
  return {
    response: ({ session }) => ({
      passages: texts.map((text) => ({ sessionId: session, sessionTitle: "Budget", offset: 0, text })),
      complete: true,
    }),
  };
}

export const beyondCases: readonly BeyondCase[] = [
  {
    ...search,
    title: "finds the passage of a session",
    code: "ok",
    request: ({ session }) => ({ query: "hello", sessionId: session }),
    ...passages("Hello."),
  },
  {
    ...search,
    title: "finds the passages of a contact's sessions",
    code: "ok",
    request: ({ contact }) => ({ query: "HELL", contactId: contact.toUpperCase() }),
    ...passages("Hello."),
  },
  {
    ...search,
    title: "finds no passage without the words",
    code: "ok",
    request: ({ session }) => ({ query: "bye", sessionId: session }),
    ...passages(),
  },
  {
    ...search,
    title: "finds no passage of another account's contact",
    code: "ok",
    request: ({ strangers }) => ({ query: "hello", contactId: strangers.contact }),
    ...passages(),
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
  {
    ...search,
    title: "finds what was said in any session",
    code: "ok",
    request: () => ({ query: "hello" }),
    ...passages("Hello."),
  },
  {
    ...search,
    title: "skips sessions",
    code: "ok",
    request: () => ({ query: "hello", offset: 1 }),
    ...passages(),
  },
  {
    ...search,
    title: "rejects a page of 26 sessions",
    code: Code.InvalidArgument,
    request: () => ({ query: "hello", limit: 26 }),
  },
  {
    ...search,
    title: "rejects a date that does not exist",
    code: Code.InvalidArgument,
    request: () => ({ query: "hello", from: "2026-02-30" }),
  },
  {
    ...search,
    title: "rejects a session with a contact",
    code: Code.InvalidArgument,
    request: ({ session, contact }) => ({ query: "hello", sessionId: session, contactId: contact }),
  },
  {
    ...search,
    title: "rejects an id that is not a UUID",
    code: Code.InvalidArgument,
    request: () => ({ query: "hello", sessionId: "1" }),
  },
  {
    ...search,
    title: "rejects a query of one letter",
    code: Code.InvalidArgument,
    request: ({ session }) => ({ query: "h", sessionId: session }),
  },
  {
    ...search,
    title: "rejects a call without a key",
    code: Code.Unauthenticated,
    hasKey: false,
    request: ({ session }) => ({ query: "hello", sessionId: session }),
  },
];
