// 401: finds out whose API key a request bears (contract §2.2, §7.1).
import type { Binary } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { deadlineIn, within } from "../deadline.ts";
import { fail } from "../errors.ts";
import type { Caller, KeyFacts } from "./call.ts";
import { keep } from "../remembered.ts";

/** The look-up of keys, and their form, handed in by the composition root. */
export interface Keys {
  /** Whether the text has the form of a key with a right checksum. */
  isSecret(text: string): boolean;
  hash(secret: string): Binary;
  /** The active key with this hash. Rejects when the store cannot be read. */
  find(hash: Binary): Promise<KeyFacts | undefined>;
}

/** Tells who sends a request, and checks an answer that was found for a key from memory. */
export interface Authentication {
  /**
   * Tells the caller by the `Authorization` header. `fresh` asks the key store; otherwise the facts of a key that was
   * seen before come from memory and are marked as unproven. Never rejects.
   */
  identify(authorization: string | undefined, fresh: boolean, waitMs: number): Promise<Caller>;
  /** Fails with 401 or 503 unless the caller has a key. */
  require(caller: Caller): Extract<Caller, { kind: "key" }>;
  /** Looks up a key that is not proven yet; fails with INVALID_KEY when it is no longer active, else with UNAVAILABLE. */
  prove(caller: Extract<Caller, { kind: "key" }>): Promise<void>;
}

/**
 * The facts of a key never change, so an instance may remember them; that the key is still active is never remembered:
 * it is read from MongoDB for every request, with the data where possible.
 */
export function createAuthentication(keys: Keys): Authentication {
  const memory = new Map<string, KeyFacts>();

  async function lookUp(hash: Binary): Promise<KeyFacts | undefined> {
    const name = hash.toString("base64");
    const facts = await keys.find(hash);
    if (facts === undefined) memory.delete(name);
    else keep(memory, name, facts);
    return facts;
  }

  return {
    async identify(authorization, fresh, waitMs) {
      const secret = bearer(authorization);
      if (secret === undefined || !keys.isSecret(secret)) return { kind: "nobody", sent: authorization !== undefined };
      const hash = keys.hash(secret);
      const known = fresh ? undefined : memory.get(hash.toString("base64"));
      if (known !== undefined) return { kind: "key", key: known, unproven: { hash, proven: false } };
      try {
        const facts = await within(deadlineIn(waitMs), lookUp(hash));
        return facts === undefined ? { kind: "nobody", sent: true } : { kind: "key", key: facts, unproven: undefined };
      } catch (cause) {
        return { kind: "unreadable", cause };
      }
    },
    require(caller) {
      if (caller.kind === "key") return caller;
      if (caller.kind === "unreadable") return fail(Reason.UNAVAILABLE, { cause: caller.cause });
      return fail(caller.kind === "nobody" && caller.sent ? Reason.INVALID_KEY : Reason.MISSING_KEY);
    },
    async prove({ unproven }) {
      if (unproven === undefined || unproven.proven) return;
      const facts = await lookUp(unproven.hash).catch((cause: unknown) => fail(Reason.UNAVAILABLE, { cause }));
      if (facts === undefined) fail(Reason.INVALID_KEY);
      unproven.proven = true;
    },
  };
}

/** The token of `Authorization: Bearer <token>` (RFC 6750 §2.1; the scheme in any case, RFC 9110 §11.1). */
export function bearer(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s]+)$/i.exec(authorization ?? "")?.[1];
}
