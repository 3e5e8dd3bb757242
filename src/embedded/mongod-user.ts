// The service's user in the embedded mongod, with exactly the roles that docs/production.md names.
import { createHmac } from "node:crypto";
import type { Db } from "mongodb";

export const serviceUser = "records";

const roles = [
  { role: "readWrite", db: "records" },
  // For `records doctor`, which checks the members.
  { role: "clusterMonitor", db: "admin" },
];

/**
 * Creates the user, or updates its password and roles if they differ. `admin` belongs to a client with all privileges.
 */
export async function ensureServiceUser(admin: Db, password: string): Promise<void> {
  // Shows whether the stored user is up to date, without the cost of a login.
  const mark = createHmac("sha256", password).update(JSON.stringify(roles)).digest("hex");
  const { users } = await admin.command({ usersInfo: serviceUser });
  const [known] = users as readonly { readonly customData?: { readonly mark?: string } }[];
  if (known?.customData?.mark === mark) return;
  const settings = { pwd: password, roles, mechanisms: ["SCRAM-SHA-256"], customData: { mark } };
  await admin.command({ [known === undefined ? "createUser" : "updateUser"]: serviceUser, ...settings });
}
