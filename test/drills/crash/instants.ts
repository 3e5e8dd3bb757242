// The instants of a write at which it can be broken: its commands to the database, before and after, and the parts of
// its reply.
import type { CommandInstant } from "../../fixtures/network/mongo-proxy.ts";
import type { CommandFault } from "../../fixtures/databases/own-mongod.ts";
import type { Operation, SpokenWire } from "../kills/body.ts";
import type { Received } from "./reply-proxy.ts";

/** How a write is broken: where the instance is killed or its connection cut, or what mongod does to it. */
export type Breach =
  | { readonly kind: "killed" | "cut"; readonly at: CommandInstant }
  | { readonly kind: "killed"; readonly received: Received }
  | { readonly kind: "fault"; readonly name: string; readonly fault: CommandFault };

/** One write that is broken once. */
export interface BrokenWrite {
  readonly operation: Operation;
  readonly wire: SpokenWire;
  readonly breach: Breach;
}

/** The commands of a write in their order; the drill looks whether there are others. */
export const commands: Readonly<Record<Operation, readonly Omit<CommandInstant, "when">[]>> = {
  create: [
    { command: "find", collection: "api_keys" },
    { command: "update", collection: "idempotency" },
    { command: "insert", collection: "contacts" },
    { command: "commitTransaction" },
  ],
  append: [
    { command: "find", collection: "api_keys" },
    { command: "update", collection: "idempotency" },
    { command: "findAndModify", collection: "contacts" },
    { command: "insert", collection: "notes" },
    { command: "commitTransaction" },
  ],
};

const replies: readonly Received[] = ["nothing", "the head", "all but the end"];

const claim = { namespace: "records.idempotency" };
const faults: Readonly<Record<string, CommandFault>> = {
  "closes the connection before the claim": { failCommands: ["update"], closeConnection: true, ...claim },
  "rejects the claim": {
    failCommands: ["update"],
    errorCode: 10107,
    errorLabels: ["TransientTransactionError"],
    ...claim,
  },
  "closes the connection before the insert": { failCommands: ["insert"], closeConnection: true },
  "is no longer primary at the insert": {
    failCommands: ["insert"],
    errorCode: 10107,
    errorLabels: ["TransientTransactionError"],
  },
  "closes the connection before the commit": { failCommands: ["commitTransaction"], closeConnection: true },
  "does not commit and says that nobody knows": {
    failCommands: ["commitTransaction"],
    errorCode: 91,
    errorLabels: ["UnknownTransactionCommitResult"],
  },
  "aborts the transaction at the commit": {
    failCommands: ["commitTransaction"],
    errorCode: 251,
    errorLabels: ["TransientTransactionError"],
  },
  "commits and says that it is shutting down": {
    failCommands: ["commitTransaction"],
    writeConcernError: { code: 91, errmsg: "drill" },
  },
  "commits and does not know of a majority": {
    failCommands: ["commitTransaction"],
    writeConcernError: { code: 64, errmsg: "drill", errInfo: { wtimeout: true } },
  },
};

const operations: readonly Operation[] = ["create", "append"];
const spoken: readonly SpokenWire[] = ["REST", "gRPC"];

function instants(operation: Operation): CommandInstant[] {
  return commands[operation].flatMap((command) => (["before", "after"] as const).map((when) => ({ ...command, when })));
}

const breaches: Record<Operation, Record<Breach["kind"], readonly Breach[]>> = {
  create: breachesOf("create"),
  append: breachesOf("append"),
};

function breachesOf(operation: Operation): Record<Breach["kind"], readonly Breach[]> {
  return {
    killed: [
      ...instants(operation).map((at): Breach => ({ kind: "killed", at })),
      ...replies.map((received): Breach => ({ kind: "killed", received })),
    ],
    cut: instants(operation).map((at) => ({ kind: "cut", at })),
    fault: Object.entries(faults).map(([name, fault]) => ({ kind: "fault", name, fault })),
  };
}

/** Everything that can happen to either operation, on both wires. */
export const everyWrite: readonly BrokenWrite[] = operations.flatMap((operation) =>
  spoken.flatMap((wire) =>
    Object.values(breaches[operation]).flatMap((kind) =>
      kind.map((breach): BrokenWrite => ({ operation, wire, breach })),
    ),
  ),
);

/**
 * Every instant at which an instance can be killed, on one wire each; of the cuts and of mongod's faults every other
 * one, on either operation.
 */
export const sampledWrites: readonly BrokenWrite[] = operations.flatMap((operation, odd) =>
  Object.entries(breaches[operation]).flatMap(([kind, all]) =>
    all.flatMap((breach, at): BrokenWrite[] =>
      kind === "killed" || (at + odd) % 2 === 0
        ? [{ operation, wire: spoken[(at + odd + (at >> 1)) % 2] ?? "REST", breach }]
        : [],
    ),
  ),
);

/** What an operator calls it. */
export function spell({ operation, wire, breach }: BrokenWrite): string {
  const write = `in a ${wire} ${operation}`;
  if (breach.kind === "fault") return `mongod ${breach.name} ${write}`;
  if ("received" in breach) return `killed when the client had received ${breach.received} ${write}`;
  const { command, collection, when } = breach.at;
  return `${breach.kind} ${when} ${command}${collection === undefined ? "" : ` of ${collection}`} ${write}`;
}
