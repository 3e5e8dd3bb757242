// The states of the dashboard's page, with the data that each one shows.
import type { AccountUsage } from "../accounts/usage.ts";
import type { HealthStatus } from "../gen/records/v1/health_pb.ts";
import type { Contact } from "../gen/records/v1/contacts_pb.ts";
import type { SessionDetail } from "../gen/records/v1/sessions_pb.ts";

/** The signed-in user, as the identity provider reports it. */
export interface User {
  /** The page's requests name the user by this id, because another one may have signed in since. */
  readonly id: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly issuer: string;
  readonly subject: string;
}

/** The requests of an account, and the limits on them. */
export interface UsageView {
  /** Undefined if they cannot be read. */
  readonly used: AccountUsage | undefined;
  /** Requests per second. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}

/** One of the states of the page. */
export type View =
  | {
      readonly kind: "signed out";
      /** True after a sign-out that found no session, and so ended nothing. */
      readonly sessionEnded: boolean;
      /** The path of the page to return to after the sign-in; undefined for the start page. */
      readonly to?: string;
    }
  | { readonly kind: "contact"; readonly user: User; readonly contact: Contact }
  | {
      readonly kind: "session";
      readonly user: User;
      readonly session: SessionDetail;
      readonly transcript: string | undefined;
    }
  /** Whether the service works, for everyone. */
  | { readonly kind: "status"; readonly status: HealthStatus }
  /** No identity provider is configured. */
  | { readonly kind: "sign-in off" }
  /** Signed in, but no account is linked to this sign-in. */
  | {
      readonly kind: "no account";
      readonly user: User;
      /** Whether the user has just requested another check. */
      readonly again: boolean;
    }
  /** The operator has suspended the account. */
  | { readonly kind: "suspended"; readonly user: User; readonly accountId: string; readonly message: string }
  | {
      readonly kind: "account";
      readonly user: User;
      readonly account: { readonly id: string; readonly email: string; readonly betaEnrolled: boolean };
      readonly baseUrl: string;
      readonly mcpUrl: string;
      readonly usage: UsageView;
    }
  /** A request of the browser itself failed. `retry`: whether another attempt is useful. */
  | {
      readonly kind: "problem";
      readonly status: number;
      readonly message: string;
      readonly requestId: string;
      readonly retry: boolean;
    };

export type SignedOutView = Extract<View, { kind: "signed out" }>;
export type NoAccountView = Extract<View, { kind: "no account" }>;
export type SuspendedView = Extract<View, { kind: "suspended" }>;
export type AccountView = Extract<View, { kind: "account" }>;
export type ContactView = Extract<View, { kind: "contact" }>;
export type SessionView = Extract<View, { kind: "session" }>;
export type StatusView = Extract<View, { kind: "status" }>;
export type ProblemView = Extract<View, { kind: "problem" }>;
