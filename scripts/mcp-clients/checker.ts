// Checks the outcome of a journey: what every client must have achieved, and what it must not.
import type { Outcome, Step } from "./journey.ts";
import { toolCalls } from "./tool-calls.ts";

/** The problems in each column of the table. */
export interface Verdict {
  readonly signIn: readonly string[];
  readonly tools: readonly string[];
  readonly refresh: readonly string[];
  readonly afterSignOut: readonly string[];
}

/** Where the client had to go. */
export interface Expected {
  readonly issuer: string;
  readonly revision: string;
}

const notReached = ["was not reached"];

export function checkJourney(
  { revision, signIn, tools, refresh, afterSignOut, again }: Outcome,
  expected: Expected,
): Verdict {
  const issues = (...found: readonly (string | false)[]): string[] => found.filter((one) => one !== false);
  return {
    signIn:
      signIn === undefined
        ? notReached
        : issues(
            ...problemsOfSignIn(signIn, expected),
            revision !== expected.revision && `the revision is ${revision}, not ${expected.revision}`,
          ),
    tools:
      tools === undefined
        ? notReached
        : issues(
            ...tools.failures,
            ...toolCalls.map(({ tool }) => !tools.listed.includes(tool) && `${tool} is not listed`),
            ...tools.listed.map((tool) => !toolCalls.some((one) => one.tool === tool) && `${tool} is never called`),
          ),
    refresh:
      refresh === undefined
        ? notReached
        : issues(
            refresh.pages.length > 0 && "the client asked for a sign-in instead of refreshing",
            !refresh.hasData && `no data was returned (${refresh.error ?? "without an error"})`,
            !refresh.hasNewToken && "the access token did not change",
          ),
    afterSignOut:
      afterSignOut === undefined || again === undefined
        ? notReached
        : issues(
            afterSignOut.hasData && "data was returned after the sign-out",
            ...problemsOfPages(afterSignOut, expected),
            ...problemsOfSignIn(again, expected).map((problem) => `at the new sign-in: ${problem}`),
          ),
  };
}

/** Whether no column has a problem. */
export function hasPassed(verdict: Verdict): boolean {
  return Object.values(verdict).every((problems: readonly string[]) => problems.length === 0);
}

function problemsOfSignIn(step: Step, expected: Expected): string[] {
  return [
    ...problemsOfPages(step, expected),
    ...(step.hasData ? [] : [`no data was returned (${step.error ?? "without an error"})`]),
  ];
}

/** A client must open the provider's own page exactly once: no page is a dead end, and several are a loop. */
function problemsOfPages({ pages, error }: Step, { issuer }: Expected): string[] {
  const [page] = pages;
  if (page === undefined) return [`the client opened no sign-in page (${error ?? "without an error"})`];
  return [
    ...(pages.length > 1 ? [`the client opened ${pages.length} pages`] : []),
    ...(page.hasPasswordForm ? [] : ["the provider asked for no password"]),
    ...(page.origin === issuer ? [] : [`the page is at ${page.origin}`]),
    ...(page.hasPkce ? [] : ["the client sent no PKCE challenge with SHA-256"]),
  ];
}
