// The users who can sign in at the development provider, and their claims.
import { createHash, timingSafeEqual } from "node:crypto";
import type { Account } from "oidc-provider";

/** A user who can sign in. */
export interface User {
  /** The permanent id of the user: the `sub` of every token. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Looks up users. */
export type Users = ReturnType<typeof createUsers>;

export function createUsers(users: readonly User[]) {
  return {
    /** All users, in the order of the demo. */
    all: users,
    bySubject: (subject: string | undefined): User | undefined => users.find((user) => user.subject === subject),
    /** Returns the user with this email and password, or undefined if either is wrong. */
    signIn(email: string, password: string): User | undefined {
      const user = users.find((one) => folded(one.email) === folded(email));
      // Compares passwords even for an unknown email, so that the time does not reveal which emails exist.
      const right = isSame(password, user?.password ?? "");
      return right ? user : undefined;
    },
  };
}

/** Returns the library's account of a user. The library selects the claims that the scopes of a request allow. */
export function accountOf(user: User | undefined): Account | undefined {
  if (user === undefined) return undefined;
  const { subject, email, name } = user;
  return { accountId: subject, claims: () => ({ sub: subject, email, email_verified: true, name }) };
}

function folded(email: string): string {
  return email.trim().toLowerCase();
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
