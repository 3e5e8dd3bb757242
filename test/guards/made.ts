// The chain of guards over fake dependencies: each step is recorded in order, and what each dependency returns is
// up to the test.
import type { DescMessage, DescMethod, DescMethodUnary, Message, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Binary, UUID } from "mongodb";
import { AccountService } from "../../src/gen/records/admin/v1/accounts_pb.ts";
import { ApiKeyService } from "../../src/gen/records/v1/api_keys_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { InterfaceService } from "../../src/gen/records/admin/v1/interface_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { createAuthentication } from "../../src/guards/authenticate.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import type { KeyFacts, SignedInUser } from "../../src/guards/call.ts";
import type { Capacity, Queueing } from "../../src/guards/capacity.ts";
import { unlimited } from "../../src/guards/capacity.ts";
import type { AccessPolicies, Grant, Handler } from "../../src/guards/chain.ts";
import { createDispatch } from "../../src/guards/chain.ts";
import type { RecognitionDependencies, CreateRecognizer } from "../../src/guards/credentials.ts";
import { createRecognizer } from "../../src/guards/credentials.ts";
import { internalAccessPolicies, publicAccessPolicies } from "../../src/guards/access-policies.ts";
import type { Idempotency, KeyedRequest } from "../../src/guards/idempotency.ts";
import type { Claim, Proof } from "../../src/call/scope.ts";
import { fail } from "../../src/call/errors.ts";
import { createInternalAccess } from "../../src/guards/internal.ts";
import type { SessionGuard } from "../../src/guards/session.ts";
import { createSessionGuard } from "../../src/guards/session.ts";
import type { Throttle } from "../../src/guards/throttle.ts";
import { createThrottle } from "../../src/guards/throttle.ts";
import type { Dispatch, Inbound, Observation, RpcResponse } from "../../src/call/dispatch.ts";

export const accountId = new UUID("3f2a8c54-0000-4000-8000-000000000001");
export const contactId = "3f2a8c54-0000-4000-8000-000000000003";
export const keyFacts: KeyFacts = {
  hash: new Binary(Buffer.from("rec_good")),
  accountId,
  readOnly: false,
  prefix: "rec_good",
};
export const user: SignedInUser = {
  id: "ann",
  name: "ann@example.com",
  account: { id: accountId, betaEnrolled: true },
};
export const origin = "https://records.example";

/** A queueing in which so many requests of each kind wait. */
export const waiting = (max: number): Partial<Queueing> => ({
  maxWaiting: { verified: max, unverified: max },
  maxWaitMs: { verified: 500, unverified: 500 },
});

/** What the dependencies return; a test may change it at any time. */
export interface World {
  findKey: (hash: Binary) => Promise<KeyFacts | undefined>;
  findUser: () => Promise<SignedInUser | undefined>;
  publicInterface: boolean;
  writes: boolean;
  /** Whether the switches may have changed since they were read. */
  isStale: boolean;
  /** What a request waits for while they may have. */
  freshen: () => Promise<void> | undefined;
  /** For how many milliseconds the bucket has a request wait. */
  waitMs: number;
  /** Called when a token is taken. */
  onTake: () => void;
  serve: (rpc: DescMethodUnary, grant: Grant) => Promise<void>;
  /** What the service responds with after that. */
  respond: (rpc: DescMethodUnary) => Message;
}

export interface Made {
  readonly world: World;
  /** In their order: `take account:…`, `find`, `serve CreateContact`, `used`, `rejected CreateApiKey 403`. */
  readonly steps: string[];
  readonly grants: Grant[];
  readonly observation: Observation;
  readonly keyed: KeyedRequest[];
  readonly throttle: Throttle;
  /** The dependencies of recognizers. The bucket of failed look-ups does not refill during a test. */
  readonly recognition: RecognitionDependencies;
  readonly recognizers: CreateRecognizer;
  inbound(headers?: Readonly<Record<string, string>>, arrivedAt?: number): Inbound;
  /** The chain behind access policies. */
  behind(policies: AccessPolicies, capacity?: Capacity): Dispatch;
  /** Sends a message through the chain. */
  call(
    dispatch: Dispatch,
    rpc: DescMethodUnary,
    headers?: Readonly<Record<string, string>>,
    message?: object,
  ): Promise<RpcResponse>;
}

export function make(): Made {
  const steps: string[] = [];
  const grants: Grant[] = [];
  const observation: Observation = {};
  const keyed: KeyedRequest[] = [];
  const world: World = {
    findKey: () => Promise.resolve(keyFacts),
    findUser: () => Promise.resolve(user),
    publicInterface: true,
    writes: true,
    isStale: false,
    freshen: () => undefined,
    waitMs: 0,
    onTake: () => undefined,
    serve: () => Promise.resolve(),
    respond: ({ output }) => create(output),
  };
  const take = (name: string, tokens = 1): Promise<number> => {
    steps.push(`take ${tokens === 1 ? "" : `${tokens} of `}${name}`);
    world.onTake();
    return Promise.resolve(world.waitMs);
  };
  const throttle = createThrottle(undefined, { take }, 50, () => undefined);
  const recognition = {
    throttle,
    lookUps: createKnownBuckets({ rate: 0.001, burst: 10 }),
    capacity: unlimited,
    onRejectedLookUp: () => void steps.push("rejected a look-up"),
  };
  const handlers = [ContactService, ApiKeyService, HealthService, InterfaceService, AccountService, IngestService]
    .flatMap((service): readonly DescMethod[] => service.methods)
    .filter((rpc): rpc is DescMethodUnary => rpc.methodKind === "unary")
    .map((rpc): [DescMethodUnary, Handler] => [
      rpc,
      async (_message, grant) => {
        steps.push(`serve ${rpc.name}`);
        grants.push(grant);
        await world.serve(rpc, grant);
        return world.respond(rpc);
      },
    ]);
  const idempotency: Idempotency = {
    async run(request, write) {
      const { rpc, key } = request;
      keyed.push(request);
      steps.push(`once ${rpc.name} ${key}`);
      return { message: await write({} as Claim), replayed: key === "again", body: "as it was" };
    },
  };
  const inbound: Made["inbound"] = (headers = {}, arrivedAt = performance.now()) => ({
    header: (name) => headers[name],
    address: "192.0.2.1",
    requestId: "r1",
    arrivedAt,
    observation,
  });
  return {
    world,
    steps,
    grants,
    observation,
    keyed,
    inbound,
    throttle,
    recognition,
    recognizers: (bucketOf) => createRecognizer(recognition, bucketOf),
    behind: (policies, capacity) => createDispatch(policies, new Map(handlers), idempotency, capacity),
    async call(dispatch, rpc, headers, message = {}) {
      const admitted = await dispatch.admit(rpc, inbound(headers));
      return admitted.invoke(create(rpc.input, message as MessageInitShape<DescMessage>));
    },
  };
}

/** A proof that names what it proves, and that no read carries out. */
export function proofOf(name: unknown): Proof {
  const insert = { collection: "", stages: [], isValid: {} };
  return { stages: [{ name }], isRow: () => false, require: () => undefined, insert };
}

/** What the access policies know of how fresh the switches are. */
export function freshnessOf(world: World) {
  return {
    requireFreshSwitches: () => void (world.isStale && fail(Reason.UNAVAILABLE)),
    freshSwitches: () => (world.isStale ? world.freshen() : undefined),
  };
}

/** From now on the switches are too old until somebody waits for them. Waiting does not help if `helps` is false. */
export function stall({ world }: Made, helps = true, meanwhile: () => unknown = () => undefined): void {
  world.isStale = true;
  world.freshen = async () => {
    await Promise.resolve();
    await meanwhile();
    world.isStale = !helps;
  };
}

/** The guard of dashboard sessions over the dependencies. */
export function sessionGuardOf(
  { world, recognizers }: Pick<Made, "world" | "recognizers">,
  capacity: Capacity = unlimited,
): SessionGuard {
  return createSessionGuard({
    read: (cookies) => cookies,
    find: () => world.findUser(),
    origin: () => origin,
    ...freshnessOf(world),
    switches: () => world,
    recognizers,
    capacity,
  });
}

/** The public access policies over the dependencies; a secret begins with `rec_`, and any cookie names the session. */
export function publicPoliciesOf({ world, steps, recognition }: Made, capacity: Capacity = unlimited): AccessPolicies {
  const find = (hash: Binary): Promise<KeyFacts | undefined> => {
    steps.push("find");
    return world.findKey(hash);
  };
  const recognizers: CreateRecognizer = (accountOf) => createRecognizer({ ...recognition, capacity }, accountOf);
  return publicAccessPolicies({
    ...freshnessOf(world),
    authentication: createAuthentication(
      {
        isSecret: (text) => text.startsWith("rec_"),
        // Any bytes can be a hash, also bytes that are no text.
        hash: (secret) => new Binary(Buffer.from(secret, "latin1")),
        proof: proofOf,
        find,
      },
      recognizers,
    ),
    sessions: sessionGuardOf({ world, recognizers }, capacity),
    switches: () => world,
    onUse: ({ prefix }) => void steps.push(`used ${prefix}`),
    onRejection: async ({ rpc }, _caller, { kind }) => void steps.push(`rejected ${rpc.name} ${kind.http}`),
  });
}

/** The access policies of the internal listener over the dependencies, with two tokens. */
export function internalPoliciesOf({ world }: Made): AccessPolicies {
  const access = createInternalAccess(["token-one", "token-two"], (id) => Promise.resolve(id.equals(accountId)));
  const { requireFreshSwitches, freshSwitches } = freshnessOf(world);
  return internalAccessPolicies(access, () => world, requireFreshSwitches, freshSwitches);
}

/** The name of the reason for which something fails; `no failure` where it does not. */
export function reasonOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => "no failure",
    (error: { reason?: Reason }) =>
      Object.entries(Reason).find(([, value]) => value === error.reason)?.[0] ?? String(error),
  );
}
