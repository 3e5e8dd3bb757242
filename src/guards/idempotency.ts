// Idempotency: runs a write with a key exactly once, and replays its response to repetitions (contract §5).
import { hash, randomUUID } from "node:crypto";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Collection, Db, UUID } from "mongodb";
import { Binary, MaxKey, MinKey } from "mongodb";
import { collections } from "../db/collections.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { findFirst } from "../db/aggregate.ts";
import { ClaimTaken, write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { isPast } from "../call/deadline.ts";
import type { Violation } from "../call/errors.ts";
import { fail } from "../call/errors.ts";
import type { RpcResponse } from "../call/dispatch.ts";
import type { Reservations, StoredClaim } from "./reservations.ts";
import { reservationName } from "./reservations.ts";
import type { Claim, ClaimDocument, Scope } from "../call/scope.ts";

/** Increment it when the fingerprint of an unchanged request changes. Claims of another version then never match. */
const fingerprintVersion = 1;
const keyForm = /^[!-~]{1,128}$/;
const waitMs = 15;

export const claimCollection: CollectionSpec = {
  collection: collections.claims,
  erasure: {
    key: "_id",
    // The range of `_id` bounds the index scan. The account next to it is the shard key.
    hint: "_id_",
    filter: ({ id }) => ({
      "_id.account_id": id,
      _id: { $gte: { account_id: id, key: new MinKey() }, $lte: { account_id: id, key: new MaxKey() } },
    }),
  },
  // Every read checks the age by the database's clock. This index only removes claims that are no longer used.
  indexes: [
    { key: { created_at: 1 }, name: "expiry", expireAfterSeconds: 25 * 3600 },
    // Finds the responses to erase with a record, and those of the previous release, which name no records.
    { key: { "_id.account_id": 1, records: 1 }, name: "records" },
  ],
};

/** Runs writes that have an idempotency key. */
export interface Idempotency {
  /**
   * Runs the write, or returns the response of its first run. Fails with IDEMPOTENCY_KEY_REUSED if the key names
   * another request. Fails with NOT_FOUND if a record in that response was deleted. Fails with the deadline's reason if
   * the first run is still in progress at the deadline.
   */
  run(request: KeyedRequest, perform: (claim: Claim) => Promise<Message>): Promise<RpcResponse>;
}

/** A write and its idempotency key. */
export interface KeyedRequest {
  readonly rpc: DescMethodUnary;
  readonly scope: Scope;
  readonly key: string;
  readonly message: Message;
}

/** Returns the violations of an `Idempotency-Key` header; none if it was not sent. */
export function keyViolations(key: string | undefined): Violation[] {
  if (key === undefined || keyForm.test(key)) return [];
  return [
    {
      field: "Idempotency-Key",
      rule: "string.pattern",
      message: "must be 1 to 128 printable ASCII characters without spaces (! to ~)",
    },
  ];
}

/** Creates the runner of writes with keys. `render` returns the REST body of a response. */
export function createIdempotency(
  db: Db,
  reservations: Reservations,
  render: (rpc: DescMethodUnary, message: Message) => string,
): Idempotency {
  const claims = db.collection<ClaimDocument>(collections.claims);

  return {
    async run(request, perform) {
      const { rpc, scope, key } = request;
      const { deadline } = scope;
      const fingerprint = fingerprintOf(rpc, request.message);
      const name = reservationName(scope.accountId, key);
      const claim = claimOf(rpc, scope.accountId, key, fingerprint, render);
      for (;;) {
        const reservation = await reservations.reserve(name, randomUUID(), deadline.tally);
        if (reservation.kind === "completed") return replay(rpc, fingerprint, reservation.claim);
        if (reservation.kind !== "in flight") {
          const response = await attempt(claim.claim, reservation.release);
          if (response !== undefined) return response;
        }
        if (isPast(deadline)) {
          fail(deadline.reason, {
            message: "The first request with this Idempotency-Key is still running. Try again.",
            because: "deadline",
            waitingFor: "the first request with the idempotency key",
          });
        }
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }

      /** Tries the write once. Returns undefined if the key was taken, but has no claim of the last 24 hours. */
      async function attempt(granted: Claim, release: (claim?: StoredClaim) => void): Promise<RpcResponse | undefined> {
        let kept: StoredClaim | undefined;
        try {
          const message = await perform(granted);
          kept = claim.stored();
          return { message, replayed: false, body: kept?.body };
        } catch (error) {
          if (!(error instanceof ClaimTaken)) throw error;
          kept = await findClaim(claims, scope.accountId, key, deadline);
          if (kept !== undefined) return replay(rpc, fingerprint, kept);
          await removeExpired(claims, scope.accountId, key, deadline);
          return undefined;
        } finally {
          // Released in any case. Otherwise the reservation would be renewed for ever, and block every repetition.
          release(kept);
        }
      }
    },
  };
}

function claimOf(
  rpc: DescMethodUnary,
  accountId: UUID,
  key: string,
  fingerprint: Buffer,
  render: (rpc: DescMethodUnary, message: Message) => string,
): { claim: Claim; stored(): StoredClaim | undefined } {
  let stored: StoredClaim | undefined;
  return {
    claim: {
      document({ message: response, records }) {
        stored = { fingerprint, message: Buffer.from(toBinary(rpc.output, response)), body: render(rpc, response) };
        const { message, body } = stored;
        return {
          _id: { account_id: accountId, key },
          fingerprint: new Binary(fingerprint),
          message: new Binary(message),
          body,
          records,
        };
      },
    },
    stored: () => stored,
  };
}

const dayAgo = { $dateSubtract: { startDate: "$$NOW", unit: "hour", amount: 24 } };

/** Frees a key whose 24 hours are over, because MongoDB removes expired documents late. */
async function removeExpired(
  claims: Collection<ClaimDocument>,
  accountId: UUID,
  key: string,
  deadline: Deadline,
): Promise<void> {
  const expired = { _id: { account_id: accountId, key }, $expr: { $lte: ["$created_at", dayAgo] } };
  // Both conditions have an `$expr`, so they cannot be merged.
  await write(claims.db.client, deadline, (options, fence) => claims.deleteOne({ $and: [expired, fence] }, options));
}

/** Returns the claim of the last 24 hours, read with read concern majority; undefined if there is none. */
async function findClaim(
  claims: Collection<ClaimDocument>,
  accountId: UUID,
  key: string,
  deadline: Deadline,
): Promise<StoredClaim | undefined> {
  const filter = { _id: { account_id: accountId, key }, $expr: { $gt: ["$created_at", dayAgo] } };
  const leftMs = { $subtract: [{ $dateAdd: { startDate: "$created_at", unit: "hour", amount: 24 } }, "$$NOW"] };
  const projection = { fingerprint: 1, message: 1, body: 1, erased: 1, leftMs };
  const found = await findFirst<ClaimDocument & { leftMs: number }>(claims, filter, { projection, deadline });
  if (found === undefined) return undefined;
  return {
    fingerprint: Buffer.from((found.erased ?? found.fingerprint).buffer),
    message: Buffer.from(found.message.buffer),
    body: found.body,
    leftMs: found.leftMs,
    erased: found.erased !== undefined,
  };
}

function replay(rpc: DescMethodUnary, fingerprint: Buffer, claim: StoredClaim): RpcResponse {
  if (!claim.fingerprint.equals(fingerprint)) fail(Reason.IDEMPOTENCY_KEY_REUSED);
  if (claim.erased === true) fail(Reason.NOT_FOUND, { message: recordDeleted });
  return { message: fromBinary(rpc.output, claim.message), replayed: true, body: claim.body };
}

const recordDeleted =
  "The record of this Idempotency-Key was deleted after the first request. Use a new key to create another record.";

/**
 * Returns a digest of the operation and its typed request. Spelling does not matter, and all wires agree (contract
 * §5.2).
 */
function fingerprintOf(rpc: DescMethodUnary, message: Message): Buffer {
  const operation = Buffer.from(`${fingerprintVersion} ${rpc.parent.typeName}/${rpc.name}\n`);
  const request = toBinary(rpc.input, message, { writeUnknownFields: false });
  return hash("sha256", Buffer.concat([operation, request]), "buffer");
}
