// A client's journey: signs in from scratch, calls every tool, refreshes, and sends a request after a sign-out.
import type { McpClient, UserAgent } from "./client.ts";
import type { OpenedPage, BrowserUser } from "./user.ts";
import type { Seen } from "./tool-calls.ts";
import { toolCalls } from "./tool-calls.ts";

/** The outcome of a step; `error` is what the client reported. */
export interface Step {
  readonly pages: readonly OpenedPage[];
  readonly hasData: boolean;
  readonly error?: string;
}

/** The outcome of a journey. A step that was not reached is missing. */
export interface Outcome {
  readonly revision?: string;
  readonly signIn?: Step;
  readonly tools?: {
    readonly listed: readonly string[];
    readonly called: readonly string[];
    /** What was wrong with a call, with the name of its tool. */
    readonly failures: readonly string[];
  };
  readonly refresh?: Step & { readonly hasNewToken: boolean };
  /** The next call after the sign-out, with a user who closes the page. */
  readonly afterSignOut?: Step;
  /** The call after that, with a user who signs in. */
  readonly again?: Step;
}

/** Takes a client through the journey. Never throws: failures are in the outcome. */
export async function journeyOf(client: McpClient, user: BrowserUser): Promise<Outcome> {
  let revision: string | undefined;
  const signIn = await step(user.signsIn, async (open) => {
    revision = await client.connect(open);
    // Some clients make no request on connect.
    return (await client.listTools(open)).length > 0;
  });
  if (!signIn.hasData) return { signIn };
  const tools = await callTools(client, user);
  const before = await client.tokenDigest();
  await client.expireToken();
  const refreshed = await step(user.declines, (open) => hasContacts(client, open));
  const after = await client.tokenDigest();
  const refresh = { ...refreshed, hasNewToken: before !== "" && after !== "" && after !== before };
  await user.signOut();
  const afterSignOut = await step(user.declines, (open) => hasContacts(client, open));
  const again = await step(user.signsIn, async (open) => {
    await client.connect(open);
    return hasContacts(client, open);
  });
  return { ...(revision === undefined ? {} : { revision }), signIn, tools, refresh, afterSignOut, again };
}

async function step(
  by: (pages: OpenedPage[]) => UserAgent,
  work: (userAgent: UserAgent) => Promise<boolean>,
): Promise<Step> {
  const pages: OpenedPage[] = [];
  try {
    return { pages, hasData: await work(by(pages)) };
  } catch (error) {
    return { pages, hasData: false, error: messageOf(error) };
  }
}

/** Whether a tool returns records, which it does only for an authorized client. */
async function hasContacts(client: McpClient, userAgent: UserAgent): Promise<boolean> {
  const { isError, structured } = await client.callTool("search_contacts", { query: "ann lee" }, userAgent);
  return !isError && JSON.stringify(structured).includes("Ann Lee");
}

async function callTools(client: McpClient, user: BrowserUser): Promise<NonNullable<Outcome["tools"]>> {
  const seen: Seen = { contact: "", name: "", session: "" };
  const called: string[] = [];
  const failures: string[] = [];
  const pages: OpenedPage[] = [];
  const open = user.declines(pages);
  const listed = await client.listTools(open).catch((error: unknown) => {
    failures.push(`tools/list: ${messageOf(error)}`);
    return [];
  });
  for (const { tool, given, keep, expected } of toolCalls) {
    try {
      const { isError, structured } = await client.callTool(tool, given(seen), open);
      keep?.(structured, seen);
      const text = expected(seen);
      if (isError) failures.push(`${tool} returned an error`);
      else if (text === "" || !JSON.stringify(structured).includes(text)) failures.push(`${tool} returned other data`);
      else called.push(tool);
    } catch (error) {
      failures.push(`${tool}: ${messageOf(error)}`);
    }
  }
  if (pages.length > 0) failures.push(`${pages.length} pages were opened for the calls`);
  return { listed, called, failures };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}
