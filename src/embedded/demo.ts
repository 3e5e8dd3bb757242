// The demo: accounts with API keys and records, created once and listed in `demo.json` (contract §10).
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { UUID } from "mongodb";
import type { AccountStore } from "../accounts/store.ts";
import type { ApiKeyDocument, ApiKeyStore } from "../api-keys/store.ts";
import type { AuditStore } from "../audit/store.ts";
import { hashSecret } from "../api-keys/secret.ts";
import { deadlineIn, isTimeoutOrUnavailable } from "../call/deadline.ts";
import { Failure } from "../call/errors.ts";
import { createInternalAccess } from "../guards/internal.ts";
import type { StreamHandler } from "../guards/stream.ts";
import type { ImportRequest, ImportResponse } from "../gen/records/ingest/v1/import_pb.ts";
import { ImportRequestSchema, ImportRestart } from "../gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../gen/records/ingest/v1/ingest_pb.ts";
import type { DemoProfile } from "./demo/records.ts";
import type { DemoUser } from "./demo-users.ts";
import { readJson } from "./json-file.ts";
import { writePrivate } from "./secrets.ts";

/** The content of `DATA_DIR/demo.json`, which only its owner can read. */
export interface DemoFile {
  readonly base_url: string;
  readonly internal_url: string;
  readonly service_token: string;
  /** The URL of the development identity provider. */
  readonly issuer: string;
  /** Includes the credentials of the embedded mongod. */
  readonly mongodb_uri: string;
  /** Includes the password of the embedded Redis; null without Redis. */
  readonly redis_url: string | null;
  readonly accounts: readonly DemoAccount[];
}

/** The addresses of a service and of its databases. */
export interface Addresses {
  readonly baseUrl: string;
  readonly internalUrl: string;
  readonly serviceToken: string;
  readonly mongodbUri: string;
  readonly redisUrl: string | undefined;
}

/** One of the demo's accounts. */
export interface DemoAccount {
  readonly account_id: string;
  readonly email: string;
  /** The password at the development identity provider. */
  readonly password: string;
  readonly api_key: string | null;
  readonly access: ApiKeyDocument["access"] | null;
}

/** What the demo is written with. */
interface DemoServices {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly streams: ReadonlyMap<DescMethod, StreamHandler>;
}

/** Creates the demo and lists it. */
export interface Demo {
  /** Creates the missing accounts, keys and records, and links the users to their accounts. */
  fill(services: DemoServices): Promise<void>;
  /** Writes `demo.json` and returns the key of the first account, or undefined if that account has none. */
  announce(where: Addresses): Promise<string | undefined>;
}

/** The records of a message of the import. */
const batchSize = 1_000;
/** Far longer than a batch takes on current machines. */
const fillMs = 60_000;
const pauseMs = 250;

/** Creates the demo of a data folder. The secrets of its keys are stored only in `demo.json`. */
export function createDemo(
  dataDir: string,
  issuer: string,
  users: readonly DemoUser[],
  progress: (line: string) => void,
): Demo {
  const file = join(dataDir, "demo.json");
  let accounts: DemoAccount[] = [];

  return {
    async fill(services) {
      const knownKeys = keysIn(await readJson(file));
      accounts = [];
      let isFirst = true;
      const add = async ({ profile, email, subject, password, enrolled, access }: DemoUser): Promise<void> => {
        const present = await services.accounts.list(1_000, 0, undefined);
        const account = present.find((one) => one.email === email) ?? (await services.accounts.create(email, enrolled));
        const id = account._id.toHexString();
        // An account that `demo.json` does not list may be filled only in part, so the same records are written again.
        if (!knownKeys.has(id)) {
          if (isFirst) progress("Creating the demo data (once) …");
          isFirst = false;
          await fillAccount(services, account._id, profile);
        }
        await services.accounts.link(account._id, { issuer, subject });
        const secret = access === null ? null : await keyOf(services, account._id, access, knownKeys);
        accounts.push({ account_id: id, email, password, api_key: secret, access });
      };
      for (const user of users) await persistently(() => add(user));
    },
    async announce({ baseUrl, internalUrl, serviceToken, mongodbUri, redisUrl = null }) {
      const where = { base_url: baseUrl, internal_url: internalUrl, service_token: serviceToken, issuer };
      const content: DemoFile = { ...where, mongodb_uri: mongodbUri, redis_url: redisUrl, accounts };
      await writePrivate(file, `${JSON.stringify(content, null, 2)}\n`);
      return accounts[0]?.api_key ?? undefined;
    },
  };
}

/** Retries work that the database could not do in time, as on a busy machine, for up to `fillMs`. */
async function persistently(work: () => Promise<void>): Promise<void> {
  for (const until = performance.now() + fillMs; ; await sleep(pauseMs))
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure && isTimeoutOrUnavailable(error)) || performance.now() > until) throw error;
    }
}

async function fillAccount({ accounts, streams }: DemoServices, id: UUID, profile: DemoProfile): Promise<void> {
  const operator = createInternalAccess([], accounts.exists).operator(
    { header: () => undefined, address: "", requestId: "demo" },
    () => deadlineIn(fillMs),
    () => undefined,
    () => undefined,
  );
  const importAll = streams.get(IngestService.method.import);
  if (importAll === undefined) throw new Error("nothing serves Import");
  for await (const response of importAll(requestsOf(id.toHexString(), profile), operator)) {
    const [rejection] = (response as ImportResponse).rejections;
    if (rejection !== undefined) throw new Error(`demo data: ${rejection.error?.message}`);
  }
}

async function* requestsOf(accountId: string, profile: DemoProfile): AsyncIterable<ImportRequest> {
  // Loaded on demand: a data folder needs it once.
  const { demoRecords } = await import("./demo/records.ts");
  const records = demoRecords(profile, new Date());
  // An earlier start may have been interrupted.
  const first = { accountId, importId: "demo", restart: ImportRestart.ALWAYS };
  for (let at = 0; at < records.length; at += batchSize)
    yield create(ImportRequestSchema, { ...(at === 0 && first), records: records.slice(at, at + batchSize) });
}

/**
 * Returns the accounts that `demo.json` lists, with their keys. The file may have been edited or damaged: an invalid
 * entry counts as missing.
 */
function keysIn(file: unknown): ReadonlyMap<string, string | undefined> {
  const { accounts } = (file ?? {}) as { readonly accounts?: unknown };
  const keys = new Map<string, string | undefined>();
  for (const account of Array.isArray(accounts) ? (accounts as readonly unknown[]) : []) {
    const { account_id: id, api_key: key } = (account ?? {}) as { readonly [field: string]: unknown };
    if (typeof id === "string") keys.set(id, typeof key === "string" ? key : undefined);
  }
  return keys;
}

/**
 * Returns the key that `demo.json` lists for an account if it is active. Returns null if the user has rotated or
 * revoked the listed key, because the new one is unknown here. An account that the file does not list gets a new key,
 * which replaces any existing one.
 */
async function keyOf(
  { apiKeys, audit }: DemoServices,
  accountId: UUID,
  access: ApiKeyDocument["access"],
  listed: ReadonlyMap<string, string | undefined>,
): Promise<string | null> {
  const known = listed.get(accountId.toHexString());
  const active = known === undefined ? undefined : await apiKeys.find(hashSecret(known));
  if (known !== undefined && active?.account_id.equals(accountId)) return known;
  if (listed.has(accountId.toHexString())) return null;
  const event = (await apiKeys.revoke(accountId)) === undefined ? "key_created" : "key_rotated";
  const { secret, document } = await apiKeys.create(accountId, access);
  const actor = { person: "the demo", requestId: "demo", address: "" };
  await audit.append(accountId, actor, { event, keyPrefix: document.prefix }, deadlineIn(fillMs));
  return secret;
}
