// The user of the embedded mongod as whom the service connects: exactly the roles that docs/production.md names.
import { createHmac } from "node:crypto";
import type { Db } from "mongodb";

export const serviceUser = "records";

const roles = [
  { role: "readWrite", db: "records" },
  // For `records doctor`, which looks at the members.
  { role: "clusterMonitor", db: "admin" },
];

/** Makes the user, or sets its password and roles where they are others. `admin` is of a client that may do all. */
export async function ensureServiceUser(admin: Db, password: string): Promise<void> {
  // Tells whether the stored user is as it should be, without the cost of a login.
  const mark = createHmac("sha256", password).update(JSON.stringify(roles)).digest("hex");
  const { users } = await admin.command({ usersInfo: serviceUser });
  const [known] = users as readonly { readonly customData?: { readonly mark?: string } }[];
  if (known?.customData?.mark === mark) return;
  const settings = { pwd: password, roles, mechanisms: ["SCRAM-SHA-256"], customData: { mark } };
  await admin.command({ [known === undefined ? "createUser" : "updateUser"]: serviceUser, ...settings });
}
