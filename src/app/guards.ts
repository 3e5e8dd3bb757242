// Wires the guards: the limits, the access policies of both listeners, and the dispatch behind each.
import { createRenderBody } from "../http/response.ts";
import { unshared } from "../db/mongo.ts";
import { hashSecret, isSecret } from "../api-keys/secret.ts";
import { recordRejections } from "../audit/rejections.ts";
import { createAssistantAccess } from "../guards/assistant.ts";
import type { Authentication, Keys } from "../guards/authenticate.ts";
import { bearer, createAuthentication } from "../guards/authenticate.ts";
import { createDispatch } from "../guards/chain.ts";
import type { CreateRecognizer } from "../guards/credentials.ts";
import { internalAccessPolicies, publicAccessPolicies } from "../guards/access-policies.ts";
import { createIdempotency } from "../guards/idempotency.ts";
import { createInternalAccess } from "../guards/internal.ts";
import { createLimits } from "../guards/limits.ts";
import { createEnterLogout } from "../guards/logout.ts";
import { createReservations } from "../guards/reservations.ts";
import { createSessionGuard } from "../guards/session.ts";
import { createStreamDispatch } from "../guards/stream.ts";
import { accountOfBucket } from "../guards/throttle.ts";
import type { Services } from "./services.ts";
import type { Logout } from "../sign-in/logout-token.ts";
import { createSessionCookie } from "../sign-in/sign-in.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";
import type { Rpcs } from "./rpcs.ts";
import type { Storage } from "./storage.ts";

/** The guards of an instance. `assistants` is undefined if there is no identity provider. */
export type Guards = ReturnType<typeof createGuards>;

export function createGuards(foundation: Foundation, storage: Storage, { signIn, tokens }: Identity, rpcs: Rpcs) {
  const { config, dependencies, observability, where } = foundation;
  const { client, redis, services, switches } = storage;
  const size = { rate: config.rateLimit, burst: config.rateBurst };
  const limits = createLimits(redis, size, config.maxInFlight, observability.metrics);
  const { throttle, capacity, recognizers, receiveUnidentified } = limits;
  const render = createRenderBody(config.documentProvider);
  const idempotency = createIdempotency(client.db(), createReservations(redis), render);

  const { state, requireFresh: requireFreshSwitches, waitUntilFresh: freshSwitches } = switches;
  const sessionCookie = createSessionCookie(() => where.baseUrl);
  const sessions = createSessionGuard({
    read: sessionCookie.read,
    find: async (cookies, deadline) => signIn?.find(cookies, deadline),
    origin: () => new URL(where.baseUrl).origin,
    switches: state,
    requireFreshSwitches,
    freshSwitches,
    recognizers,
    capacity,
  });
  const authentication = authenticationOf(services, recognizers);
  const outside = publicAccessPolicies({
    authentication,
    sessions,
    switches: state,
    requireFreshSwitches,
    freshSwitches,
    onUse: ({ hash }) => services.lastUse.note(hash),
    onRejection: recordRejections(services.audit, observability.onError),
  });
  const assistants =
    tokens &&
    createAssistantAccess({
      throttle,
      tokens,
      recognizers,
      capacity,
      switches: state,
      requireFreshSwitches,
      freshSwitches,
    });
  const access = createInternalAccess(dependencies.serviceTokens, services.accounts.exists);
  const inside = internalAccessPolicies(access, state, requireFreshSwitches, freshSwitches);
  const dispatch = {
    open: createDispatch(outside, rpcs.rest, idempotency, capacity),
    assistants: createDispatch(assistants ?? outside, rpcs.open, idempotency, capacity),
    internal: createDispatch(inside, rpcs.internal, idempotency),
    streams: createStreamDispatch(inside, services.streams),
  };
  const enterLogout = createEnterLogout<Logout>(recognizers, capacity, receiveUnidentified);
  const shed = limits.shedding({
    presume({ header, target }) {
      const secret = bearer(header("authorization"));
      // An access token can have any form, but is for the MCP surface alone.
      if (secret !== undefined)
        return authentication.presume(secret) ?? (target().isMcp ? assistants?.presume(secret) : undefined);
      const cookies = header("cookie");
      return cookies === undefined ? undefined : sessions.presume(cookies);
    },
    onRemembered({ header }, bucket) {
      const account = bucket === undefined ? undefined : accountOfBucket(bucket);
      // The requests of the dashboard, which have a cookie instead, are not counted.
      if (account !== undefined && bearer(header("authorization")) !== undefined) services.usage.countRejected(account);
    },
  });
  return { limits, shed, sessionCookie, sessions, enterLogout, assistants, access, dispatch };
}

/** Creates the authentication by API key. */
function authenticationOf({ apiKeys }: Services, recognizers: CreateRecognizer): Authentication {
  const keys: Keys = {
    isSecret,
    hash: hashSecret,
    proof: apiKeys.proof,
    async find(hash, deadline) {
      const key = await apiKeys.find(hash, deadline);
      if (key === undefined) return undefined;
      const { account_id, access, prefix, suspended } = key;
      return { hash, accountId: unshared(account_id), readOnly: access === "read_only", prefix, suspended };
    },
  };
  return createAuthentication(keys, recognizers);
}
