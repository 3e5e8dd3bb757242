// Wires the MCP surface: access policy, calls, endpoint, metadata documents and access tokens.
import type { OpenApiDocument } from "../http/openapi-settings.ts";
import type { AuditStore } from "../audit/store.ts";
import { unshared } from "../db/mongo.ts";
import type { AssistantAccess, Tokens } from "../guards/assistant.ts";
import type { Surface } from "../call/exchange.ts";
import type { Dispatch, Inbound, OnError } from "../call/dispatch.ts";
import type { EndedSessions } from "../sign-in/ended-store.ts";
import type { IdentityProvider } from "../sign-in/provider.ts";
import { IntrospectionRejected } from "../sign-in/introspection.ts";
import { unreachable } from "../sign-in/provider-failures.ts";
import { timed } from "../call/tally.ts";
import { createCalls } from "./calls.ts";
import { createEndpoint } from "./endpoint.ts";
import { createMetadata, failOff } from "./metadata.ts";
import { createTokenVerifier, rejectToken } from "./tokens.ts";

/** Dependencies of the MCP surface. */
export interface McpDependencies {
  /** Undefined if there is no identity provider. The surface is then off, and reports it. */
  readonly provider: IdentityProvider | undefined;
  /** The configured issuer. */
  readonly issuer: string | undefined;
  readonly access: AssistantAccess | undefined;
  readonly dispatch: Dispatch;
  readonly documentProvider: string;
  readonly document: () => OpenApiDocument;
  readonly version: string;
  readonly where: { readonly baseUrl: string; readonly mcpUrl: string };
  readonly corsOrigins: readonly string[];
  /** The scopes that the metadata name to assistants. Unset: a default. */
  readonly scopes: readonly string[] | undefined;
  readonly audit: AuditStore;
  /** Throttles a request for a document. Fails with RATE_LIMITED. */
  readonly throttleDocument: (inbound: Inbound) => Promise<void>;
  /** The size of a bucket, in tokens. A batch cannot have more messages. */
  readonly burst: number;
  readonly onError: OnError;
}

/** The surfaces to serve. `close` ends open streams. */
export interface Mcp {
  readonly surfaces: readonly Surface[];
  /** Loads the MCP library, which the first call would otherwise wait for. */
  prepare(): Promise<unknown>;
  close(): Promise<void>;
}

export function createMcp(dependencies: McpDependencies): Mcp {
  const { provider, issuer, where, audit, onError } = dependencies;
  const rejectAll = (): Promise<never> => Promise.resolve().then(failOff);
  const endpoint = createEndpoint({
    ...dependencies,
    access: dependencies.access ?? { enter: rejectAll, throttleMore: rejectAll },
    calls: createCalls(dependencies.dispatch, dependencies.documentProvider, onError),
    userInfo: async (accessToken, subject) => provider?.userInfo(accessToken, subject),
    assistantFactory: async () =>
      (await import("./server.ts")).createAssistantFactory(dependencies.document(), dependencies.version),
    onRead({ detail }, { accountId, name }, inbound) {
      if (accountId === undefined) return;
      const { requestId, address } = inbound;
      audit.appendSoon(accountId, { person: name, requestId, address }, { event: "tool_called", detail });
    },
  });
  const metadata = createMetadata({
    issuer,
    issuerName: async () => (await provider?.issuer().catch(() => undefined)) ?? issuer ?? "",
    scopes: async () => provider?.scopes(),
    configuredScopes: dependencies.scopes,
    mcpUrl: () => where.mcpUrl,
    throttle: dependencies.throttleDocument,
    onError,
  });
  return { surfaces: [endpoint, metadata], prepare: endpoint.prepare, close: endpoint.close };
}

/** Dependencies of the checks of access tokens. */
export interface TokenDependencies {
  readonly provider: IdentityProvider;
  readonly audiences: readonly string[];
  readonly ended: Pick<EndedSessions, "endAndAccount">;
  /** Warns the operator. */
  readonly warn: (message: string) => void;
}

/** Creates the checks of access tokens, which also find the user's account. */
export function createTokens({ provider, audiences, ended, warn }: TokenDependencies): Tokens {
  let [warned, warnedOfAudience] = [false, false];
  const verifier = createTokenVerifier({
    provider,
    audiences,
    onNoAudience() {
      if (!warnedOfAudience)
        warn(
          "an access token of the identity provider names no audience, and MCP_AUDIENCE requires one: assistants cannot connect until the provider adds it",
        );
      warnedOfAudience = true;
    },
  });
  return {
    async identify(sent, deadline) {
      const { tally } = deadline;
      const holder = await timed(tally, "providerMs", "the identity provider", () => verifier.verify(sent));
      const { issuer, subject, profile } = holder;
      if (holder.authenticatedAt === undefined && !warned) {
        warned = true;
        warn(
          "the identity provider's access tokens have no auth_time: after a sign-out they stay rejected. Configure the provider to add auth_time, the time of the sign-in.",
        );
      }
      const { end, account } = await ended.endAndAccount(holder, deadline);
      const isOpen = end?.kind === "user" && holder.authenticatedAt === undefined;
      // The user may have signed in again since. Only the provider knows, once it responds.
      if (
        isOpen &&
        holder.introspectionError !== undefined &&
        !(holder.introspectionError instanceof IntrospectionRejected)
      )
        unreachable(holder.introspectionError);
      if (end !== undefined)
        rejectToken(
          isOpen ? "its user signed out, and it has no auth_time to show a later sign-in" : "its session has ended",
          // An offline session survives the sign-out at the provider, so that a refresh succeeds and changes nothing.
          "Sign in again. If the assistant still gets this message, disconnect it, remove its access at the identity provider, and connect it again.",
        );
      return {
        issuer,
        subject,
        name: profile.email ?? account?.email ?? subject,
        profile: { ...profile, email: profile.email ?? account?.email },
        accountId: account && unshared(account._id),
        suspended: account?.suspension !== undefined,
      };
    },
  };
}
