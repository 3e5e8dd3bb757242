// The users of the demo, with their accounts and passwords.
import { createHmac } from "node:crypto";
import type { ApiKeyDocument } from "../api-keys/store.ts";
import type { DemoProfile } from "./demo/records.ts";
import type { User } from "./provider/users.ts";

/** A user of the demo, with the user's account. */
export interface DemoUser extends User {
  readonly profile: DemoProfile;
  readonly enrolled: boolean;
  /** The access of the account's API key; null for an account without a key. */
  readonly access: ApiKeyDocument["access"] | null;
}

const users: readonly Omit<DemoUser, "subject" | "email" | "password">[] = [
  { profile: "demo", name: "Dana Moreau", enrolled: true, access: "read_write" },
  { profile: "second", name: "Sam Okafor", enrolled: true, access: "read_write" },
  { profile: "reader", name: "Rita Lindqvist", enrolled: true, access: "read_only" },
  { profile: "enrolled", name: "Eli Navarro", enrolled: true, access: null },
  { profile: "waiting", name: "Wanda Petrov", enrolled: false, access: null },
];

/**
 * Returns the users of the demo. Their passwords are derived from a secret of the data folder, so they stay the same
 * between starts and differ between data folders.
 */
export function demoUsers(secret: string): readonly DemoUser[] {
  return users.map((user) => {
    const email = `${user.profile}@example.com`;
    const password = createHmac("sha256", secret).update(`password of ${email}`).digest("base64url").slice(0, 16);
    return { ...user, subject: user.profile, email, password };
  });
}
