// How the operations of records.admin.v1 are tried: by Connect's JSON on the internal listener.
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import type { Lane } from "./lane.ts";
import type { Recipe } from "./recipe.ts";
import { call, count, fresh } from "./recipe.ts";

const admin = "records.admin.v1";

/** An operation that only reads, or whose repetition changes nothing more. */
function plain(operation: string, message: (lane: Lane) => Record<string, unknown>): Recipe {
  return {
    operation,
    prepare: (lane) => Promise.resolve({ send: () => call(lane, operation, message(lane)), repeatable: true }),
  };
}

async function newAccount({ whole }: Lane): Promise<string> {
  return (await whole.app.services.accounts.create(`${fresh()}@example.com`, true))._id.toHexString();
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

export const adminRecipes: readonly Recipe[] = [
  plain(`${admin}.AccountService/GetAccount`, ({ account }) => ({ account_id: account.id })),
  plain(`${admin}.AccountService/ListAccounts`, () => ({ limit: 2 })),
  plain(`${admin}.InterfaceService/GetState`, () => ({})),
  plain(`${admin}.InterfaceService/ListChanges`, () => ({})),
  switching("SetPublicInterface"),
  switching("SetWrites"),
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
        effects: () => count(lane, "accounts", { _id: UUID.createFromHexString(id), beta_enrolled: false }),
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
        effects: () => count(lane, "accounts", { "identities.subject": subject }),
        repeatable: true,
      };
    },
  },
  {
    operation: `${admin}.AccountService/DeleteAccount`,
    async prepare(lane) {
      const id = await newAccount(lane);
      const _id = UUID.createFromHexString(id);
      return {
        send: () => call(lane, `${admin}.AccountService/DeleteAccount`, { account_id: id }),
        effects: async () => 1 - (await count(lane, "accounts", { _id })),
        repeatable: true,
        // The background would look after it for 40 seconds.
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
