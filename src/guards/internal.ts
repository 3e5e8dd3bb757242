// 401 on the internal listener: the service token, and the account on whose behalf a call is made (contract §1).
import { createHash, timingSafeEqual } from "node:crypto";
import type { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { uuid, uuidForm } from "../db/mongo.ts";
import type { Deadline } from "../deadline.ts";
import { fail, refuse } from "../errors.ts";
import type { Inbound } from "../rpc/dispatch.ts";
import { observe } from "../rpc/dispatch.ts";
import type { WriteScope } from "./scope.ts";
import { grantWrites, readScope } from "./scope.ts";
import { bearer } from "./authenticate.ts";

/** Who calls on the internal listener, for the record of what they switched. */
export interface OperatorCaller {
  readonly address: string;
  readonly requestId: string;
  /** The first 8 hexadecimal digits of the SHA-256 of the service token: tells which of several it was, and opens nothing. */
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
  /** Fails with INVALID_SERVICE_TOKEN unless the header bears one of the tokens. */
  requireToken(authorization: string | undefined): void;
  /** The account that `records-account-id` names. Fails with INVALID_REQUEST or NOT_FOUND. */
  accountOf(header: string | undefined): Promise<UUID>;
  /** What the sender of a request is granted; `requireToken` has let it in. */
  operator(inbound: Pick<Inbound, "header" | "address" | "requestId" | "observation">, deadline: () => Deadline): Operator;
}

/** `exists` tells whether there is an account with the id. */
export function createInternalAccess(tokens: readonly string[], exists: (accountId: UUID) => Promise<boolean>): InternalAccess {
  const digests = tokens.map(digest);

  async function requireAccount(accountId: UUID): Promise<UUID> {
    if (!(await exists(accountId))) fail(Reason.NOT_FOUND, { message: "There is no such account." });
    return accountId;
  }

  return {
    requireToken(authorization) {
      const sent = digest(bearer(authorization) ?? "");
      if (!digests.some((known) => timingSafeEqual(known, sent))) fail(Reason.INVALID_SERVICE_TOKEN);
    },
    async accountOf(header) {
      if (header === undefined || !uuidForm.test(header)) {
        refuse([{ field: "records-account-id", rule: "string.uuid", message: "must be the id of the account, a UUID" }]);
      }
      return requireAccount(uuid(header));
    },
    operator: ({ header, address, requestId, observation }, deadline) => ({
      kind: "operator",
      deadline,
      caller: { address, requestId, token: digest(bearer(header("authorization")) ?? "").toString("hex").slice(0, 8) },
      async scopeFor(accountId) {
        const account = await requireAccount(uuid(accountId));
        observe({ observation }, { account });
        return grantWrites(readScope(account, deadline()));
      },
    }),
  };
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
