// Checks the outcome of a journey: what every client must have reached, and what it must not.
import type { Outcome, Step } from "./journey.ts";
import { toolCalls } from "./tool-calls.ts";

/** What is wrong with each column of the table; empty where nothing is. */
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
            ...troublesOfSignIn(signIn, expected),
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
            refresh.pages.length > 0 && "the client asked for a sign-in in place of a refresh",
            !refresh.hasData && `no data came (${refresh.error ?? "without an error"})`,
            !refresh.hasNewToken && "the access token is the same",
          ),
    afterSignOut:
      afterSignOut === undefined || again === undefined
        ? notReached
        : issues(
            afterSignOut.hasData && "data came after the sign-out",
            ...troublesOfPages(afterSignOut, expected),
            ...troublesOfSignIn(again, expected).map((trouble) => `at the new sign-in: ${trouble}`),
          ),
  };
}

/** Whether nothing is wrong with any column. */
export function hasPassed(verdict: Verdict): boolean {
  return Object.values(verdict).every((troubles: readonly string[]) => troubles.length === 0);
}

function troublesOfSignIn(step: Step, expected: Expected): string[] {
  return [
    ...troublesOfPages(step, expected),
    ...(step.hasData ? [] : [`no data came (${step.error ?? "without an error"})`]),
  ];
}

/** A client has to lead to the provider's own page once: no page is a dead end, and more are a loop. */
function troublesOfPages({ pages, error }: Step, { issuer }: Expected): string[] {
  const [page] = pages;
  if (page === undefined) return [`the client opened no sign-in page (${error ?? "without an error"})`];
  return [
    ...(pages.length > 1 ? [`the client opened ${pages.length} pages`] : []),
    ...(page.hasPasswordForm ? [] : ["the provider asked for no password"]),
    ...(page.origin === issuer ? [] : [`the page is at ${page.origin}`]),
    ...(page.hasPkce ? [] : ["the client sent no PKCE challenge with SHA-256"]),
  ];
}
