// records.v1.ApiKeyService: creates, returns, rotates and revokes an account's API key, and adds each change to the
// audit log.
import type { ClientSession, MongoClient } from "mongodb";
import type { ApiKey, ApiKeyService as Descriptor, IssuedApiKey } from "../gen/records/v1/api_keys_pb.ts";
import { ApiKeyAccess } from "../gen/records/v1/api_keys_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { AuditEvent, AuditStore } from "../audit/store.ts";
import { timestamp } from "../db/message.ts";
import { transaction } from "../db/write.ts";
import { fail } from "../call/errors.ts";
import type { Owner } from "../call/scope.ts";
import type { OwnerService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { LastUse } from "./last-use.ts";
import type { ApiKeyDocument, ApiKeyStore, NewApiKey } from "./store.ts";

/** Dependencies of the service. */
export interface ApiKeyDependencies {
  readonly client: MongoClient;
  readonly keys: ApiKeyStore;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly audit: AuditStore;
  readonly lastUse: LastUse;
}

const accesses: Readonly<Record<ApiKeyDocument["access"], ApiKeyAccess>> = {
  read_write: ApiKeyAccess.READ_WRITE,
  read_only: ApiKeyAccess.READ_ONLY,
};

/**
 * Creates the service. A change is confirmed once a majority of MongoDB's members has it. From then on, no instance
 * accepts an old key.
 */
export function createApiKeyService(dependencies: ApiKeyDependencies): OwnerService<typeof Descriptor> {
  const { client, keys, audit, lastUse } = dependencies;
  return {
    async getApiKey(request, { accountId, deadline }) {
      requireAllRead(request);
      await lastUse.flush();
      const key = (await keys.ofAccount(accountId, deadline)) ?? fail(Reason.NO_API_KEY);
      return { $typeName: "records.v1.GetApiKeyResponse", apiKey: apiKeyMessage(key) };
    },
    async createApiKey({ access, ...rest }, owner) {
      requireAllRead(rest);
      const apiKey = await issue(dependencies, owner, "key_created", (session) =>
        keys.create(owner.accountId, accessOf(access) ?? "read_write", { session }),
      );
      return { $typeName: "records.v1.CreateApiKeyResponse", apiKey };
    },
    async rotateApiKey({ access, id, ...rest }, owner) {
      requireAllRead(rest);
      const apiKey = await issue(dependencies, owner, "key_rotated", async (session) => {
        const old = (await keys.revoke(owner.accountId, { session }, id)) ?? noSuchKey(id);
        return keys.create(owner.accountId, accessOf(access) ?? old.access, { session });
      });
      return { $typeName: "records.v1.RotateApiKeyResponse", apiKey };
    },
    async revokeApiKey({ id, ...rest }, { accountId, actor, deadline }) {
      requireAllRead(rest);
      const { key_id, revoked_at } = await transaction(client, deadline, async (session) => {
        const revoked = (await keys.revoke(accountId, { session }, id)) ?? noSuchKey(id);
        await audit.appendIn(session, accountId, actor, { event: "key_revoked", keyPrefix: revoked.prefix });
        return revoked;
      });
      return {
        $typeName: "records.v1.RevokeApiKeyResponse",
        apiKey: { $typeName: "records.v1.RevokedApiKey", id: key_id.toHexString(), revokedAt: timestamp(revoked_at) },
      };
    },
  };
}

/** Returns the message of a stored key. */
export function apiKeyMessage({ key_id, prefix, access, created_at, last_used_at }: ApiKeyDocument): ApiKey {
  return {
    $typeName: "records.v1.ApiKey",
    id: key_id.toHexString(),
    prefix,
    access: accesses[access],
    createdAt: timestamp(created_at),
    ...(last_used_at === undefined ? {} : { lastUsedAt: timestamp(last_used_at) }),
  };
}

/** Creates a key in a transaction. Checks the enrolment again, because it may have changed since the guard read it. */
async function issue(
  { client, accounts, audit }: ApiKeyDependencies,
  { accountId, actor, deadline }: Owner,
  event: AuditEvent,
  make: (session: ClientSession) => Promise<NewApiKey>,
): Promise<IssuedApiKey> {
  return issued(
    await transaction(client, deadline, async (session) => {
      // Conflicts with the deletion and the suspension of the account.
      const account = (await accounts.lock(accountId, session)) ?? fail(Reason.NO_ACCOUNT);
      if (account.suspension !== undefined) fail(Reason.ACCOUNT_SUSPENDED);
      if (!account.beta_enrolled) fail(Reason.NOT_ENROLLED);
      const made = await make(session);
      await audit.appendIn(session, accountId, actor, {
        event,
        keyPrefix: made.document.prefix,
        detail: described(made.document.access),
      });
      return made;
    }),
  );
}

function noSuchKey(id: string | undefined): never {
  return fail(Reason.NO_API_KEY, {
    ...(id !== undefined && { message: "The account has no active API key with this id. Get the current key first." }),
  });
}

function accessOf(access: ApiKeyAccess | undefined): ApiKeyDocument["access"] | undefined {
  return access === undefined ? undefined : access === ApiKeyAccess.READ_ONLY ? "read_only" : "read_write";
}

function described(access: ApiKeyDocument["access"]): string {
  return access === "read_only" ? "Read-only." : "Read and write.";
}

function issued({ secret, document: { key_id, prefix, access, created_at } }: NewApiKey): IssuedApiKey {
  return {
    $typeName: "records.v1.IssuedApiKey",
    id: key_id.toHexString(),
    key: secret,
    prefix,
    access: accesses[access],
    createdAt: timestamp(created_at),
  };
}
