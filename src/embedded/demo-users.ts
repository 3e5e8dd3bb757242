// The demo's users: whose accounts there are, and how they sign in.
import { createHmac } from "node:crypto";
import type { ApiKeyDocument } from "../api-keys/store.ts";
import type { DemoProfile } from "./demo/records.ts";
import type { User } from "./provider/users.ts";

/** A user of the demo, with the account of theirs. */
export interface DemoUser extends User {
  readonly profile: DemoProfile;
  readonly enrolled: boolean;
  /** What the key may do that the account is given; null for an account without one. */
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
 * The users. Their passwords come from a secret of the data folder, so that they need not be kept and are another in
 * each.
 */
export function demoUsers(secret: string): readonly DemoUser[] {
  return users.map((user) => {
    const email = `${user.profile}@example.com`;
    const password = createHmac("sha256", secret).update(`password of ${email}`).digest("base64url").slice(0, 16);
    return { ...user, subject: user.profile, email, password };
  });
}
