// An assistant that refreshes its token unattended and calls the instances in rotation.
import { randomUUID } from "node:crypto";
import { accessToken, send } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { seconds } from "../../fixtures/sign-in/fake-provider.ts";

/** The user and the sign-in that a token is for. */
export interface Grant {
  readonly subject: string;
  /** The provider's session; undefined for an offline grant. */
  readonly sid: string | undefined;
  /** When the user signed in, in whole seconds since 1970. */
  readonly signedInAt: number;
}

export interface Called {
  readonly sentAt: number;
  readonly status: number;
  /** Whether the response contains the user's record. */
  readonly hasData: boolean;
  readonly refreshed: boolean;
}

export interface Assistant {
  readonly calls: readonly Called[];
  stop(): Promise<void>;
}

/** Refreshes the token after this many calls, and after each 401. */
const callsPerToken = 3;

/** Starts an assistant that calls until it is stopped. Only the user's record contains `mark`. */
export function startAssistant(
  fake: FakeProvider,
  bases: readonly string[],
  { subject, sid, signedInAt }: Grant,
  mark: string,
): Assistant {
  const calls: Called[] = [];
  let stopped = false;
  const issue = (iat: number): Promise<string> =>
    accessToken(fake, { sub: subject, sid, auth_time: signedInAt, iat, jti: randomUUID() });

  async function work(): Promise<void> {
    let token = await issue(signedInAt);
    let refreshed = false;
    for (let at = 0; !stopped; at++) {
      const sentAt = performance.now();
      const message = { method: "tools/call", params: { name: "list_sessions", arguments: {} } };
      const { status, text } = await send(bases[at % bases.length] ?? "", `Bearer ${token}`, message);
      calls.push({ sentAt, status, hasData: text.includes(mark), refreshed });
      if (status !== 401 && at % callsPerToken !== callsPerToken - 1) continue;
      token = await issue(seconds() + 1);
      refreshed = true;
    }
  }

  const working = work();
  return {
    calls,
    async stop() {
      stopped = true;
      await working;
    },
  };
}
