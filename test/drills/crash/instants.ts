// The instants at which a write can be interrupted: before and after each database command, and between the parts of
// its response.
import type { CommandInstant } from "../../fixtures/network/mongo-proxy.ts";
import type { CommandFault } from "../../fixtures/databases/own-mongod.ts";
import type { Operation, SpokenWire } from "../kills/body.ts";
import type { Received } from "./reply-proxy.ts";

/** How a write is interrupted: where the instance is killed or its connection cut, or which fault mongod injects. */
export type Breach =
  | { readonly kind: "killed" | "cut"; readonly at: CommandInstant }
  | { readonly kind: "killed"; readonly received: Received }
  | { readonly kind: "fault"; readonly name: string; readonly fault: CommandFault };

export interface BrokenWrite {
  readonly operation: Operation;
  readonly wire: SpokenWire;
  readonly breach: Breach;
}

/** The commands of a write in order. The drill reports any others. */
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
  "does not commit and reports an unknown result": {
    failCommands: ["commitTransaction"],
    errorCode: 91,
    errorLabels: ["UnknownTransactionCommitResult"],
  },
  "aborts the transaction at the commit": {
    failCommands: ["commitTransaction"],
    errorCode: 251,
    errorLabels: ["TransientTransactionError"],
  },
  "commits and reports a shutdown": {
    failCommands: ["commitTransaction"],
    writeConcernError: { code: 91, errmsg: "drill" },
  },
  "commits without confirming a majority": {
    failCommands: ["commitTransaction"],
    writeConcernError: { code: 64, errmsg: "drill", errInfo: { wtimeout: true } },
  },
};

const operations: readonly Operation[] = ["create", "append"];
const wires: readonly SpokenWire[] = ["REST", "gRPC"];

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

/** Every interruption of both operations on both wires. */
export const everyWrite: readonly BrokenWrite[] = operations.flatMap((operation) =>
  wires.flatMap((wire) =>
    Object.values(breaches[operation]).flatMap((kind) =>
      kind.map((breach): BrokenWrite => ({ operation, wire, breach })),
    ),
  ),
);

/** Every kill, each on one wire, and every other cut and mongod fault, alternating between the operations. */
export const sampledWrites: readonly BrokenWrite[] = operations.flatMap((operation, odd) =>
  Object.entries(breaches[operation]).flatMap(([kind, all]) =>
    all.flatMap((breach, at): BrokenWrite[] =>
      kind === "killed" || (at + odd) % 2 === 0
        ? [{ operation, wire: wires[(at + odd + (at >> 1)) % 2] ?? "REST", breach }]
        : [],
    ),
  ),
);

export function describe({ operation, wire, breach }: BrokenWrite): string {
  const write = `in a ${wire} ${operation}`;
  if (breach.kind === "fault") return `mongod ${breach.name} ${write}`;
  if ("received" in breach) return `killed when the client had received ${breach.received} ${write}`;
  const { command, collection, when } = breach.at;
  return `${breach.kind} ${when} ${command}${collection === undefined ? "" : ` of ${collection}`} ${write}`;
}
