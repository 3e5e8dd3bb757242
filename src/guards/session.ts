// 401 and 403 of what a signed-in person does: the session, the account, the origin of the request, the enrolment (contract §7.5).
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { deadlineIn, within } from "../deadline.ts";
import { fail } from "../errors.ts";
import type { Inbound } from "../rpc/dispatch.ts";
import type { Call, Caller, SignedIn } from "./call.ts";

/** Finds out who is signed in, and guards what only they may do. */
export interface SessionGuard {
  /** Tells the caller by the session cookie. Never rejects. */
  identify(inbound: Inbound, waitMs: number): Promise<Caller>;
  /** Fails with 401, or with 503 where the session could not be read, unless the caller is a person. */
  require(caller: Caller): SignedIn;
  /** Fails as `require` does, and with NO_ACCOUNT unless the person has an account. */
  requireAccount(caller: Caller): NonNullable<SignedIn["account"]>;
  /** Fails with FOREIGN_ORIGIN where a change does not come from one of our own pages. */
  requireOrigin(call: Call): void;
  /** Fails with NOT_ENROLLED where the rpc needs the account's enrolment and there is none. */
  requireEnrolment(call: Call, caller: Caller): void;
}

/** `find` looks up the session that a `Cookie` header names; `origin` is ours. */
export function createSessionGuard(find: (cookie: string | undefined) => Promise<SignedIn | undefined>, origin: () => string): SessionGuard {
  function require(caller: Caller): SignedIn {
    if (caller.kind === "person") return caller.person;
    if (caller.kind === "unreadable") return fail(Reason.UNAVAILABLE, { cause: caller.cause });
    return fail(Reason.NOT_SIGNED_IN);
  }
  const requireAccount = (caller: Caller): NonNullable<SignedIn["account"]> => require(caller).account ?? fail(Reason.NO_ACCOUNT);

  return {
    async identify(inbound, waitMs) {
      try {
        const person = await within(deadlineIn(waitMs), find(inbound.header("cookie")));
        return person === undefined ? { kind: "nobody", sent: false } : { kind: "person", person };
      } catch (cause) {
        return { kind: "unreadable", cause };
      }
    },
    require,
    requireAccount,
    requireOrigin({ writes, inbound }) {
      if (!writes) return;
      // A browser that says where a request comes from is believed when it says that it is not from here.
      const site = inbound.header("sec-fetch-site") ?? "same-origin";
      if (inbound.header("origin") !== origin() || site !== "same-origin") fail(Reason.FOREIGN_ORIGIN);
    },
    requireEnrolment({ rules }, caller) {
      if (rules.enrolled && !requireAccount(caller).betaEnrolled) fail(Reason.NOT_ENROLLED);
    },
  };
}
