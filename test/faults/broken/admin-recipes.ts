// Recipes for the operations of records.admin.v1, over Connect with JSON on the internal listener.
import type { Document } from "mongodb";
import { BSON, UUID } from "mongodb";
import type { Lane } from "./lane.ts";
import type { Recipe } from "./recipe.ts";
import { call, count, drained, fresh } from "./recipe.ts";

const admin = "records.admin.v1";

/** A read, or an idempotent operation. */
function plain(operation: string, message: (lane: Lane) => Record<string, unknown>): Recipe {
  return {
    operation,
    prepare: (lane) => Promise.resolve({ send: () => call(lane, operation, message(lane)), repeatable: true }),
  };
}

async function newAccount({ whole }: Lane): Promise<string> {
  return (await whole.app.services.accounts.create(`${fresh()}@example.com`, true))._id.toHexString();
}

/** Counts audit entries, which are stored in the transaction of their change. */
function entries(lane: Lane, accountId: string, event: string): Promise<number> {
  return count(lane, "audit_log", { account_id: UUID.createFromHexString(accountId), event });
}

function switching(rpc: string): Recipe {
  const operation = `${admin}.InterfaceService/${rpc}`;
  return {
    operation,
    prepare(lane) {
      const reason = fresh();
      return Promise.resolve({
        send: () => call(lane, operation, { enabled: true, reason }),
        effects: () => count(lane, "switch_changes", { reason }),
      });
    },
  };
}

function operatorAction(
  rpc: string,
  prepare: (lane: Lane) => Promise<{ message: Record<string, unknown>; effects: () => Promise<number> }>,
): Recipe {
  const operation = `${admin}.AccountService/${rpc}`;
  return {
    operation,
    async prepare(lane) {
      const { message, effects } = await prepare(lane);
      return { send: () => call(lane, operation, { ...message, reason: "a drill" }), effects, repeatable: true };
    },
  };
}

export const adminRecipes: readonly Recipe[] = [
  plain(`${admin}.AccountService/GetAccount`, ({ account }) => ({ account_id: account.id })),
  plain(`${admin}.AccountService/ListAccounts`, () => ({ limit: 2 })),
  plain(`${admin}.InterfaceService/GetState`, () => ({})),
  plain(`${admin}.InterfaceService/ListChanges`, () => ({})),
  plain(`${admin}.InstanceService/GetLogLevel`, () => ({})),
  plain(`${admin}.InstanceService/SetLogLevel`, () => ({ level: "info" })),
  switching("SetPublicInterface"),
  switching("SetWrites"),
  {
    operation: `${admin}.BackupService/ReadDocuments`,
    streams: true,
    // Not the account of the trials, which grows.
    prepare: (lane) =>
      Promise.resolve({ send: () => drained(lane.backup.readDocuments({ accountId: lane.seen.accountId })) }),
  },
  {
    operation: `${admin}.BackupService/RestoreDocuments`,
    prepare(lane) {
      const [_id, email] = [new UUID(), `${fresh()}@example.com`];
      const account = { _id, email, email_key: email, beta_enrolled: false, created_at: new Date() };
      const bson = Buffer.from(BSON.serialize(account)).toString("base64");
      const documents = [{ collection: "accounts", bson }];
      const message = { backup_id: new UUID().toHexString(), account_id: _id.toHexString(), documents };
      return Promise.resolve({
        send: () => call(lane, `${admin}.BackupService/RestoreDocuments`, message),
        effects: () => count(lane, "accounts", { email }),
        repeatable: true,
      });
    },
  },
  {
    operation: `${admin}.AccountService/CreateAccount`,
    prepare(lane) {
      const email = `${fresh()}@example.com`;
      return Promise.resolve({
        send: () => call(lane, `${admin}.AccountService/CreateAccount`, { email }),
        effects: () => count(lane, "accounts", { email }),
      });
    },
  },
  {
    operation: `${admin}.AccountService/SetBetaEnrolment`,
    async prepare(lane) {
      const id = await newAccount(lane);
      return {
        send: () => call(lane, `${admin}.AccountService/SetBetaEnrolment`, { account_id: id, enrolled: false }),
        effects: () => entries(lane, id, "enrolment_changed"),
        repeatable: true,
      };
    },
  },
  {
    operation: `${admin}.AccountService/LinkIdentity`,
    async prepare(lane) {
      const [id, subject] = [await newAccount(lane), fresh()];
      return {
        send: () =>
          call(lane, `${admin}.AccountService/LinkIdentity`, { account_id: id, issuer: lane.fake.issuer, subject }),
        effects: () => entries(lane, id, "identity_linked"),
        repeatable: true,
      };
    },
  },
  operatorAction("SuspendAccount", async (lane) => {
    const id = await newAccount(lane);
    return {
      message: { account_id: id },
      effects: () => entries(lane, id, "account_suspended"),
    };
  }),
  operatorAction("ResumeAccount", async (lane) => {
    const id = await newAccount(lane);
    await lane.whole.internalCall(`${admin}.AccountService/SuspendAccount`, { account_id: id, reason: fresh() });
    return {
      message: { account_id: id },
      effects: () => entries(lane, id, "account_resumed"),
    };
  }),
  operatorAction("RevokeApiKey", async (lane) => {
    const id = UUID.createFromHexString(await newAccount(lane));
    const { document } = await lane.whole.app.services.apiKeys.create(id, "read_write");
    return {
      message: { key: document.key_id.toHexString() },
      effects: () => count(lane, "audit_log", { account_id: id, event: "key_revoked" }),
    };
  }),
  operatorAction("EndSessions", async (lane) => {
    const [id, subject] = [await newAccount(lane), fresh()];
    await lane.whole.app.services.accounts.link(UUID.createFromHexString(id), { issuer: lane.fake.issuer, subject });
    return { message: { account_id: id }, effects: () => count(lane, "ended_sessions", { "_id.subject": subject }) };
  }),
  {
    operation: `${admin}.AccountService/DeleteAccount`,
    async prepare(lane) {
      const id = await newAccount(lane);
      const _id = UUID.createFromHexString(id);
      return {
        send: () => call(lane, `${admin}.AccountService/DeleteAccount`, { account_id: id }),
        effects: async () => 1 - (await count(lane, "accounts", { _id })),
        repeatable: true,
        // The sweeper would retry it for 40 seconds.
        async clear() {
          await lane.whole.app.client
            .db()
            .collection("erasures")
            .deleteOne({ _id } as Document);
        },
      };
    },
  },
];
