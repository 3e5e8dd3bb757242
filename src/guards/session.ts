// 401 and 403 for requests of signed-in users: checks the session, account, origin and enrolment (contract §7.5).
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Scope } from "../call/scope.ts";
import { readOnlyScope } from "../call/scope.ts";
import type { Call, Caller, SignedInUser } from "./call.ts";
import { observeCaller } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import type { Credential, Recognition, CreateRecognizer, Presumption } from "./credentials.ts";
import { digestName } from "./credentials.ts";
import type { SwitchState } from "./switches.ts";
import { requireInterface } from "./switches.ts";
import { accountBucket } from "./throttle.ts";

/** Identifies the signed-in user, and guards the operations that only signed-in users may use. */
export interface SessionGuard<User extends SignedInUser = SignedInUser> {
  /** Throttles the request and identifies the caller by the session cookie. Fails with RATE_LIMITED or UNAVAILABLE. */
  identify(inbound: Inbound): Promise<Caller>;
  /** Returns what memory knows of the session in a `Cookie` header; undefined if it has none. */
  presume(cookies: string): Presumption | undefined;
  /** Looks up the session again, without taking a token. Never rejects. */
  identifyAgain(inbound: Inbound): Promise<Caller>;
  /**
   * Throttles a request for a page and receives its body. Then serves it in a slot, whether or not the credential is
   * verified. `user` returns the signed-in user, if any. It fails with UNAVAILABLE if the session could not be read.
   */
  enter<Body>(
    inbound: Inbound,
    deadline: Deadline,
    receive: () => Promise<Body>,
    serve: (user: () => User | undefined, body: Body) => Promise<void>,
  ): Promise<void>;
  /**
   * Reads records for a page of the user, with a right that can never write. The session and the switches are checked
   * again after the read, so that nothing is shown once a sign-out was acknowledged. Fails as `requireAccount` does,
   * with INTERFACE_DISABLED while the public interface is off, and with UNAVAILABLE if that is not known.
   */
  readRecords<T>(inbound: Inbound, deadline: Deadline, user: User, read: (scope: Scope) => Promise<T>): Promise<T>;
  /** Fails with 401 if the header `records-user` names a user other than the signed-in one. */
  requireShownUser(call: Call, caller: Caller): void;
  /** Returns the signed-in user. Fails with 401 if there is none, or with 503 if the session could not be read. */
  require(caller: Caller): SignedInUser;
  /**
   * Returns the user's account. Fails as `require` does, and with NO_ACCOUNT or ACCOUNT_SUSPENDED unless it is in
   * service.
   */
  requireAccount(caller: Caller): NonNullable<SignedInUser["account"]>;
  /** Fails with FOREIGN_ORIGIN if a write does not come from one of our own pages. */
  requireOrigin(call: Call): void;
  /** Fails with NOT_ENROLLED if the rpc requires enrolment and the account is not enrolled. */
  requireEnrolment(call: Call, caller: Caller): void;
}

/** Dependencies of the session guard. */
export interface SessionGuardDependencies<User extends SignedInUser> {
  /** Returns the session's value from a `Cookie` header; undefined if it has none. */
  readonly read: (cookies: string | undefined) => string | undefined;
  /** Finds the signed-in user by the session in a `Cookie` header. */
  readonly find: (cookies: string | undefined, deadline: Deadline) => Promise<User | undefined>;
  /** Returns our own origin. */
  readonly origin: () => string;
  readonly switches: () => SwitchState;
  /** Fails with UNAVAILABLE if the switches may have changed since they were read. */
  readonly requireFreshSwitches: () => void;
  /** Resolves once they are fresh, or when waiting longer does not help; undefined if they are fresh now. */
  readonly freshSwitches: () => Promise<void> | undefined;
  readonly recognizers: CreateRecognizer;
  readonly capacity: Capacity;
}

export function createSessionGuard<User extends SignedInUser>(
  dependencies: SessionGuardDependencies<User>,
): SessionGuard<User> {
  const { read, find, origin, switches, requireFreshSwitches, freshSwitches, recognizers, capacity } = dependencies;
  const recognizer = recognizers(({ account }: User) => account && accountBucket(account.id));

  function credentialOf(inbound: Inbound): Credential<User> | undefined {
    const cookies = inbound.header("cookie");
    const value = read(cookies);
    if (value === undefined || value === "") return undefined;
    return { name: digestName(value), isProvenLater: () => false, lookUp: (deadline) => find(cookies, deadline) };
  }

  function recognize(inbound: Inbound, deadline: Deadline): Promise<Recognition<User>> {
    const { address } = inbound;
    const onHolder = (user: User): void => observeCaller(inbound, { kind: "user", user });
    return recognizer.recognize(credentialOf(inbound), { address, deadline, optional: false, onHolder });
  }

  async function identifyAgain(inbound: Inbound): Promise<Caller> {
    const credential = credentialOf(inbound);
    return credential === undefined
      ? nobody
      : callerOf(await recognizer.lookUpAgain(credential, deadlineIn(deadlineMs, {}, inbound.tally)));
  }

  function requireRecords(): void {
    requireInterface(switches());
    requireFreshSwitches();
  }

  return {
    presume(cookies) {
      const value = read(cookies);
      return value === undefined || value === "" ? undefined : recognizer.presume(digestName(value));
    },
    identify: async (inbound) => callerOf(await recognize(inbound, deadlineIn(deadlineMs, {}, inbound.tally))),
    identifyAgain,
    async enter(inbound, deadline, receive, serve) {
      const found = await recognize(inbound, deadline);
      // A slow body holds no slot.
      const body = await receive();
      const user = (): User | undefined => {
        if (found.kind === "unreadable") fail(Reason.UNAVAILABLE, { cause: found.cause });
        return found.kind === "valid" ? found.holder : undefined;
      };
      return capacity.run(found.kind === "valid" ? "verified" : "unverified", deadline, () => serve(user, body));
    },
    async readRecords(inbound, deadline, user, read) {
      const { id } = requireAccount({ kind: "user", user });
      await freshSwitches();
      requireRecords();
      const records = await read(readOnlyScope(id, deadline));
      if (!requireAccount(await identifyAgain(inbound)).id.equals(id)) fail(Reason.NOT_SIGNED_IN);
      requireRecords();
      return records;
    },
    requireShownUser({ inbound }, caller) {
      const shown = inbound.header("records-user");
      if (shown !== undefined && shown !== requireUser(caller).id)
        fail(Reason.NOT_SIGNED_IN, { message: "Another user is signed in now. Reload the page." });
    },
    require: requireUser,
    requireAccount,
    requireOrigin({ writes, inbound }) {
      if (!writes) return;
      // `Sec-Fetch-Site` can only cause a rejection. Without it, `Origin` alone decides.
      const site = inbound.header("sec-fetch-site") ?? "same-origin";
      if (inbound.header("origin") !== origin() || site !== "same-origin") fail(Reason.FOREIGN_ORIGIN);
    },
    requireEnrolment({ rules }, caller) {
      if (rules.enrolled && !requireAccount(caller).betaEnrolled) fail(Reason.NOT_ENROLLED);
    },
  };
}

function requireUser(caller: Caller): SignedInUser {
  if (caller.kind === "user") return caller.user;
  if (caller.kind === "unreadable") return fail(Reason.UNAVAILABLE, { cause: caller.cause });
  return fail(Reason.NOT_SIGNED_IN);
}

function requireAccount(caller: Caller): NonNullable<SignedInUser["account"]> {
  const account = requireUser(caller).account ?? fail(Reason.NO_ACCOUNT);
  return account.suspended === true ? fail(Reason.ACCOUNT_SUSPENDED) : account;
}

const nobody: Caller = { kind: "nobody", sent: "nothing" };

function callerOf(found: Recognition<SignedInUser>): Caller {
  if (found.kind === "unreadable") return found;
  return found.kind === "valid" ? { kind: "user", user: found.holder } : nobody;
}
