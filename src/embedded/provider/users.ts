// The users who can sign in at the development provider, and what it says of them.
import { createHash, timingSafeEqual } from "node:crypto";
import type { Account } from "oidc-provider";

/** Somebody who can sign in. */
export interface User {
  /** Who this is, for ever: the `sub` of every token. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Finds users. */
export interface Users {
  /** Everyone, in the order of the demo. */
  readonly all: readonly Pick<User, "email" | "name">[];
  bySubject(subject: string | undefined): User | undefined;
  /** The user with this email and password; undefined where either is wrong. */
  signIn(email: string, password: string): User | undefined;
}

export function createUsers(users: readonly User[]): Users {
  return {
    all: users,
    bySubject: (subject) => users.find((user) => user.subject === subject),
    signIn(email, password) {
      const user = users.find((one) => folded(one.email) === folded(email));
      // The passwords are compared in either case, so that the time does not show which emails there are.
      const right = isSame(password, user?.password ?? "");
      return right ? user : undefined;
    },
  };
}

/** A user as the library wants one: it picks the claims that the scopes of a request allow. */
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
