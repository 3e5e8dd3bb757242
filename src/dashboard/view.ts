// What the dashboard's page can show, as the surface reports it.

/** Who is signed in, as the identity provider reports it. */
export interface User {
  /** With it the page's requests name the user, who may not be signed in any more. */
  readonly id: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly issuer: string;
  readonly subject: string;
}

/** One of the states that the page can be in. */
export type View =
  | {
      readonly kind: "signed out";
      /** True after a sign-out that found no session, and so ended nothing. */
      readonly sessionEnded: boolean;
    }
  /** No identity provider is configured. */
  | { readonly kind: "sign-in off" }
  /** Signed in, but no account is linked to this sign-in. */
  | {
      readonly kind: "no account";
      readonly user: User;
      /** Whether the user has just requested another look. */
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
    }
  /** A request of the browser's own failed. `retry`: it is worth another try. */
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
export type ProblemView = Extract<View, { kind: "problem" }>;
