// The checker of the clients' journeys: each wrong outcome is reported, in its column and no other.
import { expect, test } from "vitest";
import type { Outcome, Step } from "../../../scripts/mcp-clients/journey.ts";
import { checkJourney, hasPassed } from "../../../scripts/mcp-clients/checker.ts";

const issuer = "http://localhost:4000";
const expected = { issuer, revision: "2026-07-28" };
const page = { origin: issuer, hasPkce: true, hasPasswordForm: true };
const signedIn: Step = { pages: [page], hasData: true };
const led: Step = { pages: [page], hasData: false, error: "access_denied" };
const tools = [
  ...["search_contacts", "get_contact", "list_sessions", "get_session", "get_session_transcript"],
  ...["search_transcripts", "search_notes", "search", "fetch"],
];
const good = {
  revision: "2026-07-28",
  signIn: signedIn,
  tools: { listed: tools, called: tools, failures: [] },
  refresh: { pages: [], hasData: true, hasNewToken: true },
  afterSignOut: led,
  again: signedIn,
} satisfies Outcome;

test("the checker accepts a journey without problems", () => {
  expect(checkJourney(good, expected)).toEqual({ signIn: [], tools: [], refresh: [], afterSignOut: [] });
  expect(hasPassed(checkJourney(good, expected))).toBe(true);
});

test.each<[string, Partial<Outcome>, string, string]>([
  ["an older revision", { revision: "2025-11-25" }, "signIn", "the revision is 2025-11-25, not 2026-07-28"],
  [
    "a sign-in without PKCE",
    { signIn: { ...signedIn, pages: [{ ...page, hasPkce: false }] } },
    "signIn",
    "the client sent no PKCE challenge with SHA-256",
  ],
  [
    "data without a sign-in",
    { signIn: { pages: [], hasData: true } },
    "signIn",
    "the client opened no sign-in page (without an error)",
  ],
  [
    "a sign-in at another origin",
    { signIn: { ...signedIn, pages: [{ ...page, origin: "http://localhost:5000" }] } },
    "signIn",
    "the page is at http://localhost:5000",
  ],
  ["a missing tool", { tools: { ...good.tools, listed: tools.slice(1) } }, "tools", "search_contacts is not listed"],
  [
    "a tool that no call covers",
    { tools: { ...good.tools, listed: [...tools, "delete_contact"] } },
    "tools",
    "delete_contact is never called",
  ],
  [
    "a failed call",
    { tools: { ...good.tools, failures: ["fetch returned an error"] } },
    "tools",
    "fetch returned an error",
  ],
  [
    "a sign-in instead of a refresh",
    { refresh: { ...good.refresh, pages: [page] } },
    "refresh",
    "the client asked for a sign-in instead of refreshing",
  ],
  [
    "a refresh without a new token",
    { refresh: { ...good.refresh, hasNewToken: false } },
    "refresh",
    "the access token did not change",
  ],
  [
    "a refresh without data",
    { refresh: { ...good.refresh, hasData: false, error: "401" } },
    "refresh",
    "no data was returned (401)",
  ],
  [
    "data after the sign-out",
    { afterSignOut: { ...led, hasData: true } },
    "afterSignOut",
    "data was returned after the sign-out",
  ],
  [
    "a dead end after the sign-out",
    { afterSignOut: { ...led, pages: [], error: "401" } },
    "afterSignOut",
    "the client opened no sign-in page (401)",
  ],
  [
    "a loop after the sign-out",
    { afterSignOut: { ...led, pages: [page, page] } },
    "afterSignOut",
    "the client opened 2 pages",
  ],
  [
    "a provider that lets the client in without a password after the sign-out",
    { afterSignOut: { ...led, pages: [{ ...page, hasPasswordForm: false }] } },
    "afterSignOut",
    "the provider asked for no password",
  ],
  [
    "a new sign-in without data",
    { again: { ...signedIn, hasData: false, error: "401" } },
    "afterSignOut",
    "at the new sign-in: no data was returned (401)",
  ],
])("reports %s", (_name, change, column, problem) => {
  const verdict = checkJourney({ ...good, ...change }, expected);
  expect(verdict).toEqual({ signIn: [], tools: [], refresh: [], afterSignOut: [], [column]: [problem] });
  expect(hasPassed(verdict)).toBe(false);
});

test("reports every column that a journey did not reach", () => {
  const verdict = checkJourney({ signIn: { pages: [], hasData: false, error: "no route" } }, expected);
  expect(verdict).toMatchObject({
    tools: ["was not reached"],
    refresh: ["was not reached"],
    afterSignOut: ["was not reached"],
  });
  expect(verdict.signIn).toContain("the client opened no sign-in page (no route)");
});
