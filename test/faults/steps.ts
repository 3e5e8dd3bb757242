// The steps that a write takes in the database, each before and after it is done: the moments at which it can be broken.
import type { TestService } from "../support/service.ts";
import type { WireAnswer } from "../idempotency/wires.ts";
import { wires } from "../idempotency/wires.ts";
import type { Moment } from "./mongo-proxy.ts";

/** One write, broken at one moment. */
export interface BrokenWrite extends Moment {
  readonly operation: "create" | "append";
  readonly wire: keyof typeof wires;
}

const steps: Record<BrokenWrite["operation"], readonly Pick<Moment, "command" | "collection">[]> = {
  create: [{ command: "find", collection: "api_keys" }, { command: "update", collection: "idempotency" }, { command: "insert", collection: "contacts" }, { command: "commitTransaction" }],
  append: [{ command: "update", collection: "idempotency" }, { command: "findAndModify", collection: "contacts" }, { command: "insert", collection: "notes" }, { command: "commitTransaction" }],
};

/** Every step of both operations, REST and gRPC in turn. */
export const brokenWrites: readonly BrokenWrite[] = (["create", "append"] as const).flatMap((operation) =>
  steps[operation].flatMap((step, at) =>
    (["before", "after"] as const).map((when): BrokenWrite => ({ operation, ...step, when, wire: (at % 2 === 0) === (when === "before") ? "REST" : "gRPC" })),
  ),
);

/** After each step alone: to the database, an instance that is gone before the next command is gone after this one. */
export const steppedWrites = brokenWrites.filter(({ when }) => when === "after");

/** What a test title calls it. */
export function spell({ operation, command, collection, when, wire }: BrokenWrite): string {
  return `${when} ${command}${collection === undefined ? "" : ` of ${collection}`} in a ${wire} ${operation}`;
}

/** A fresh account with a contact, and the one write under one key that is to happen once. */
export async function prepare(service: TestService, operation: BrokenWrite["operation"]) {
  const account = await service.account();
  const parent = await wires.REST.create({ base: service.base, key: account.key }, "parent", { full_name: "Parent" });
  return {
    account,
    parent: parent.id,
    send: (base: string, wire: keyof typeof wires): Promise<WireAnswer> =>
      operation === "create"
        ? wires[wire].create({ base, key: account.key }, "k", { full_name: "Once" })
        : wires[wire].append({ base, key: account.key }, "k", parent.id, "once"),
    /** What there is of the account when the write has happened once. */
    once: { contacts: operation === "create" ? 2 : 1, notes: operation === "append" ? 1 : 0, claims: 2 },
  };
}
