// 401 on the internal listener: checks the service token, and finds the account that a call acts for (contract §1).
import { hash, timingSafeEqual } from "node:crypto";
import type { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { uuid } from "../db/mongo.ts";
import type { Deadline } from "../call/deadline.ts";
import { withDeadline } from "../call/deadline.ts";
import { fail, rejectInput } from "../call/errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { WriteScope } from "../call/scope.ts";
import { grantWrites, readScope } from "../call/scope.ts";
import { bearer } from "./authenticate.ts";
import { uuidForm } from "../text/uuid.ts";

/** A caller on the internal listener, as the records of operators' changes show it. */
export interface OperatorCaller {
  readonly address: string;
  readonly requestId: string;
  /**
   * The first 8 hexadecimal digits of the SHA-256 of the service token. They identify the token, but do not grant
   * access.
   */
  readonly token: string;
}

/** The right of a caller on the internal listener to write into any account. */
export interface Operator {
  readonly kind: "operator";
  readonly caller: OperatorCaller;
  /** Returns the deadline of the request; on a stream, of the work that starts now. */
  deadline(): Deadline;
  /** Returns the right to write into an account. Fails with NOT_FOUND if there is no such account. */
  scopeFor(accountId: string): Promise<WriteScope>;
}

/** Checks service tokens and the existence of accounts. */
export interface InternalAccess {
  /** Fails with INVALID_SERVICE_TOKEN unless the request has one of the service tokens. */
  requireToken(inbound: Pick<Inbound, "header" | "observation">): void;
  /** Returns the account that the header `records-account-id` names. Fails with INVALID_REQUEST or NOT_FOUND. */
  accountOf(inbound: Pick<Inbound, "header" | "observation">, deadline: Deadline): Promise<UUID>;
  /**
   * Returns the right of a request that `requireToken` accepted. `recheck` fails if it may no longer write. `ready`
   * returns what `recheck` should wait for, if anything.
   */
  operator(
    inbound: Pick<Inbound, "header" | "address" | "requestId" | "observation">,
    deadline: () => Deadline,
    recheck: () => void,
    ready: () => Promise<void> | undefined,
  ): Operator;
}

/** Creates the checks for these tokens. `exists` returns whether there is an account with the id. */
export function createInternalAccess(
  tokens: readonly string[],
  exists: (accountId: UUID, deadline: Deadline) => Promise<boolean>,
): InternalAccess {
  const digests = tokens.map((token) => hash("sha256", token, "buffer"));

  async function requireAccount(
    accountId: UUID,
    inbound: Pick<Inbound, "observation">,
    deadline: Deadline,
  ): Promise<UUID> {
    observe(inbound, { account: accountId });
    if (!(await exists(accountId, deadline)))
      fail(Reason.NOT_FOUND, { message: "There is no such account. Check the id." });
    return accountId;
  }

  return {
    requireToken(inbound) {
      const sent = tokenOf(inbound);
      if (!digests.some((known) => timingSafeEqual(known, sent))) fail(Reason.INVALID_SERVICE_TOKEN);
      observe(inbound, { serviceToken: tokenFingerprint(sent) });
    },
    async accountOf(inbound, deadline) {
      const header = inbound.header("records-account-id");
      if (header === undefined || !uuidForm.test(header)) {
        rejectInput([
          { field: "records-account-id", rule: "string.uuid", message: "must be the id of the account, a UUID" },
        ]);
      }
      return requireAccount(uuid(header), inbound, deadline);
    },
    operator: (inbound, deadline, recheck, ready) => ({
      kind: "operator",
      deadline,
      caller: { address: inbound.address, requestId: inbound.requestId, token: tokenFingerprint(tokenOf(inbound)) },
      async scopeFor(accountId) {
        const until = deadline();
        // A message of a stream may be written only now, even after the last message has arrived.
        const pending = ready();
        if (pending !== undefined) await withDeadline(until, pending);
        recheck();
        const scope = readScope(await requireAccount(uuid(accountId), inbound, until), until);
        return grantWrites(scope, undefined, recheck, ready);
      },
    }),
  };
}

/** Returns the SHA-256 digest of the request's token. */
function tokenOf({ header }: Pick<Inbound, "header">): Buffer {
  return hash("sha256", bearer(header("authorization")) ?? "", "buffer");
}

function tokenFingerprint(digested: Buffer): string {
  return digested.toString("hex").slice(0, 8);
}
