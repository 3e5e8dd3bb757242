// The cookie that remembers the sign-ins that a browser has begun and not completed, such as in several tabs.
import { createCookie } from "./cookies.ts";
import type { SignInState } from "./provider.ts";
import type { SessionSecrets } from "./sealing.ts";
import { createSeal, deriveKeys } from "./sealing.ts";

/** A sign-in that the browser has begun, and the sealed states of its others. */
export interface PendingSignIn {
  readonly state: SignInState;
  readonly others: readonly string[];
}

/** The cookie. `cookies` is a `Cookie` header. `add` and `keep` return the value of a `Set-Cookie` header. */
export interface StateCookie {
  /** Returns the sealed states of all sign-ins. */
  read(cookies: string | undefined): readonly string[];
  /** Adds a state to those of other sign-ins. The oldest are dropped. */
  add(others: readonly string[], state: SignInState): Promise<string>;
  /** Keeps these sealed states only. */
  keep(sealed: readonly string[]): string;
  /** Finds the sign-in whose state the identity provider returned in `search`. */
  find(search: string, cookies: string | undefined): Promise<PendingSignIn | undefined>;
}

/** The maximum age of a state, in seconds. */
const stateSeconds = 600;
/** The maximum number of sign-ins that a browser can have begun and not completed. */
const maxStates = 3;
/** Separates the sealed states. An encrypted JWT does not contain it. */
const separator = "~";

export function createStateCookie(secrets: SessionSecrets, baseUrl: () => string): StateCookie {
  const cookie = createCookie("records_sign_in", () => baseUrl().startsWith("https:"));
  const seal = createSeal(deriveKeys(secrets, "sign-in state"));
  const read = (cookies: string | undefined): string[] =>
    (cookie.read(cookies) ?? "")
      .split(separator)
      .filter((sealed) => sealed !== "")
      .slice(-maxStates);
  const keep = (sealed: readonly string[]): string =>
    sealed.length === 0 ? cookie.clear() : cookie.set(sealed.slice(-maxStates).join(separator), stateSeconds);

  return {
    read,
    keep,
    add: async (others, state) => keep([...others, await seal.seal({ ...state }, stateSeconds)]),
    async find(search, cookies) {
      const returned = new URLSearchParams(search).get("state");
      const all = read(cookies);
      for (const sealed of all) {
        const state = await seal.open(sealed);
        if (isState(state) && state.state === returned)
          return { state, others: all.filter((other) => other !== sealed) };
      }
      return undefined;
    },
  };
}

function isState(content: object | undefined): content is SignInState {
  const { state, nonce, verifier } = (content ?? {}) as Record<string, unknown>;
  return [state, nonce, verifier].every((part) => typeof part === "string");
}
