// The access policy of assistants over fake dependencies: a user with an account, and a provider that can
// change.
import type { Deadline } from "../../src/call/deadline.ts";
import type { AssistantAccess } from "../../src/guards/assistant.ts";
import { createAssistantAccess } from "../../src/guards/assistant.ts";
import type { TokenFacts } from "../../src/guards/call.ts";
import { unlimited } from "../../src/guards/capacity.ts";
import { createRecognizer } from "../../src/guards/credentials.ts";
import type { Made } from "./made.ts";
import { accountId, contactId, freshnessOf, make } from "./made.ts";

export const account = accountId.toHexString();
export const token = { authorization: "Bearer token-one" };
export const one = { contactId };

export const facts: TokenFacts = {
  issuer: "https://id.example",
  subject: "ann",
  name: "ann@example.com",
  accountId,
};

/** An access policy with what it depends on. */
export interface MadeAssistant {
  readonly parts: Made;
  readonly access: AssistantAccess;
  /** What the provider says of the token from now on. */
  readonly provider: { identify(token: string, deadline: Deadline): Promise<TokenFacts> };
}

export function makeAssistant(capacity = unlimited): MadeAssistant {
  const parts = make();
  const provider: MadeAssistant["provider"] = { identify: () => Promise.resolve(facts) };
  const access = createAssistantAccess({
    throttle: parts.throttle,
    tokens: {
      identify: (sent, deadline) => {
        parts.steps.push(`identify ${sent.token}`);
        return provider.identify(sent.token, deadline);
      },
    },
    recognizers: (bucketOf) => createRecognizer({ ...parts.recognition, capacity }, bucketOf),
    capacity,
    switches: () => parts.world,
    ...freshnessOf(parts.world),
  });
  return { parts, provider, access };
}
