// 401 on the internal listener: the service token, and the account on whose behalf a call is made (contract §1).
import { hash, timingSafeEqual } from "node:crypto";
import type { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { uuid } from "../db/mongo.ts";
import type { Deadline } from "../deadline.ts";
import { fail, rejectInput } from "../errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { WriteScope } from "../call/scope.ts";
import { grantWrites, readScope } from "../call/scope.ts";
import { bearer } from "./authenticate.ts";
import { uuidForm } from "../uuid.ts";

/** The caller on the internal listener, for the record of what they switched. */
export interface OperatorCaller {
  readonly address: string;
  readonly requestId: string;
  /**
   * The first 8 hexadecimal digits of the SHA-256 of the service token: shows which of several it was, and opens
   * nothing.
   */
  readonly token: string;
}

/** A caller on the internal listener, who may write into any account. */
export interface Operator {
  readonly kind: "operator";
  readonly caller: OperatorCaller;
  /** When the caller stops waiting; on a stream, for what is begun now. */
  deadline(): Deadline;
  /** The right to write into an account. Fails with NOT_FOUND when there is no such account. */
  scopeFor(accountId: string): Promise<WriteScope>;
}

/** Checks service tokens, and whether an account exists. */
export interface InternalAccess {
  /** Fails with INVALID_SERVICE_TOKEN unless the header has one of the tokens. */
  requireToken(inbound: Pick<Inbound, "header" | "observation">): void;
  /** The account that `records-account-id` names. Fails with INVALID_REQUEST or NOT_FOUND. */
  accountOf(inbound: Pick<Inbound, "header" | "observation">, deadline: Deadline): Promise<UUID>;
  /**
   * What the sender of a request is granted; `requireToken` has let it in. `judge` fails where it may no longer write.
   */
  operator(
    inbound: Pick<Inbound, "header" | "address" | "requestId" | "observation">,
    deadline: () => Deadline,
    judge: () => void,
  ): Operator;
}

/** `exists` reports whether there is an account with the id. */
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
    if (!(await exists(accountId, deadline))) fail(Reason.NOT_FOUND, { message: "There is no such account." });
    return accountId;
  }

  return {
    requireToken(inbound) {
      const sent = tokenOf(inbound);
      if (!digests.some((known) => timingSafeEqual(known, sent))) fail(Reason.INVALID_SERVICE_TOKEN);
      observe(inbound, { serviceToken: shown(sent) });
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
    operator: (inbound, deadline, judge) => ({
      kind: "operator",
      deadline,
      caller: { address: inbound.address, requestId: inbound.requestId, token: shown(tokenOf(inbound)) },
      async scopeFor(accountId) {
        // What came earlier in a stream is written now, perhaps after its last message.
        judge();
        const until = deadline();
        const scope = readScope(await requireAccount(uuid(accountId), inbound, until), until);
        return grantWrites(scope, undefined, judge);
      },
    }),
  };
}

/** The digest of the token in a request. */
function tokenOf({ header }: Pick<Inbound, "header">): Buffer {
  return hash("sha256", bearer(header("authorization")) ?? "", "buffer");
}

function shown(digested: Buffer): string {
  return digested.toString("hex").slice(0, 8);
}
