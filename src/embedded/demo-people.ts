// The demo's people: whose accounts there are, and how they sign in.
import { createHmac } from "node:crypto";
import type { ApiKeyDocument } from "../api-keys/store.ts";
import type { DemoProfile } from "./demo/records.ts";
import type { Person } from "./provider/people.ts";

/** A user of the demo, with the account of theirs. */
export interface DemoPerson extends Person {
  readonly profile: DemoProfile;
  readonly enrolled: boolean;
  /** What the key may do that the account is given; null for an account without one. */
  readonly access: ApiKeyDocument["access"] | null;
}

const people: readonly Omit<DemoPerson, "subject" | "email" | "password">[] = [
  { profile: "demo", name: "Dana Moreau", enrolled: true, access: "read_write" },
  { profile: "second", name: "Sam Okafor", enrolled: true, access: "read_write" },
  { profile: "reader", name: "Rita Lindqvist", enrolled: true, access: "read_only" },
  { profile: "enrolled", name: "Eli Navarro", enrolled: true, access: null },
  { profile: "waiting", name: "Wanda Petrov", enrolled: false, access: null },
];

/**
 * The people. Their passwords come from a secret of the data folder, so that they need not be kept and are another in
 * each.
 */
export function demoPeople(secret: string): readonly DemoPerson[] {
  return people.map((person) => {
    const email = `${person.profile}@example.com`;
    const password = createHmac("sha256", secret).update(`password of ${email}`).digest("base64url").slice(0, 16);
    return { ...person, subject: person.profile, email, password };
  });
}
