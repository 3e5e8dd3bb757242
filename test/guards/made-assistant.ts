// The access policy of assistants over fake dependencies: a user with an account, and a provider that can
// change.
import { create } from "@bufbuild/protobuf";
import type { Deadline } from "../../src/call/deadline.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import type { AssistantAccess, Entry } from "../../src/guards/assistant.ts";
import { createAssistantAccess } from "../../src/guards/assistant.ts";
import type { TokenFacts } from "../../src/guards/call.ts";
import { unlimited } from "../../src/guards/capacity.ts";
import { createRecognizer } from "../../src/guards/credentials.ts";
import type { Made } from "./made.ts";
import { accountId, contactId, freshnessOf, make, proofOf } from "./made.ts";

const { getContact } = ContactService.method;
export const account = accountId.toHexString();
export const token = { authorization: "Bearer token-one" };
export const one = { contactId };

export const facts: TokenFacts = {
  issuer: "https://id.example",
  subject: "ann",
  authenticatedAt: undefined,
  sid: undefined,
  name: "ann@example.com",
  accountId,
  proof: proofOf("the sign-in of ann"),
};

/** An access policy with what it depends on. */
export interface MadeAssistant {
  readonly parts: Made;
  readonly access: AssistantAccess;
  /** What the provider says of the token from now on. */
  readonly provider: { identify(token: string, deadline: Deadline): Promise<TokenFacts>; verifies(): boolean };
  /** Sends the token a second time, so that it is known: a read with it, and its proof. */
  knownRead(): Promise<{ read(): Promise<unknown>; prove: Entry["prove"] }>;
}

export function makeAssistant(capacity = unlimited): MadeAssistant {
  const parts = make();
  const provider: MadeAssistant["provider"] = { identify: () => Promise.resolve(facts), verifies: () => true };
  const access = createAssistantAccess({
    throttle: parts.throttle,
    tokens: {
      verifies: (sent) => {
        parts.steps.push(`verify ${sent.token}`);
        return Promise.resolve(provider.verifies());
      },
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
  return {
    parts,
    provider,
    access,
    async knownRead() {
      await access.enter(parts.inbound(token));
      const inbound = parts.inbound(token);
      const { prove } = await access.enter(inbound);
      const dispatch = parts.behind(access);
      const read = async (): Promise<unknown> =>
        (await dispatch.admit(getContact, inbound)).invoke(create(getContact.input, one));
      return { read, prove };
    },
  };
}
