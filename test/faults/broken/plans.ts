// Which faults are injected where: into each command of one request, and into many commands of many requests at once.
import { connectionBreaks, handshakeBreaks, passingReplies, stateChangeReplies, writeConcernReplies } from "./kinds.ts";
import type { Fault } from "./kinds.ts";
import type { Command } from "./message.ts";
import type { Plan } from "./proxy.ts";
import { acknowledges } from "./error-reply.ts";
import { isLong } from "../../support/form.ts";

/** A fault in one request. */
export interface Step {
  readonly plan: Plan;
  /** True where the pool is emptied before, so that the first command needs a handshake. */
  readonly emptied: boolean;
  /** True where the operation is tried again without the fault: where the driver may keep something of it. */
  readonly again: boolean;
}

/**
 * The faults in the commands of a request of one service: a fault of several kinds under each command that was not
 * broken for the service before (`seen`), and a share of the rest. The share depends on `turn`, so that the operations
 * have all faults between them. In the long form `roundsAtOnce` has every fault for every operation.
 */
export function stepsFor(service: string, commands: readonly Command[], turn: number, seen: Set<string>): Step[] {
  const kinds = commands.map(
    ({ name, collection, inTransaction }) => `${service} ${name} ${collection} ${inTransaction}`,
  );
  return [
    // What is sent again and again within one request is broken at the first time and the last.
    ...commands.flatMap((command, at) => {
      const kind = kinds[at] as string;
      if (at !== kinds.indexOf(kind) && at !== kinds.lastIndexOf(kind)) return [];
      const isNew = !seen.has(kind);
      seen.add(kind);
      return stepsUnder(command, at, turn + at, isNew);
    }),
    ...stepsOnFreshConnections(turn),
  ];
}

/** In the short form an operation has one: by turns a break of its first command, or one while it connects. */
function stepsOnFreshConnections(turn: number): Step[] {
  const step = (fault: Fault, at: Plan["at"]): Step => ({ plan: { fault, at }, emptied: true, again: true });
  const later = isLong ? turn : Math.floor(turn / 2);
  const opening = Math.floor(later / handshakeBreaks.length) % 2 === 0 ? "handshake" : "login";
  const kinds = [
    share(connectionBreaks, 3, later).map((fault) => step(fault, 0)),
    share(handshakeBreaks, 2, later).map((fault) => step(fault, opening)),
  ];
  return (isLong ? kinds : kinds.filter((_, kind) => kind === turn % 2)).flat();
}

/**
 * In the short form only a new command has faults: a break and replies. The kind changes when the turns have had all
 * faults, so that neither goes without some of the other.
 */
function stepsUnder(command: Command, at: number, turn: number, isNew: boolean): Step[] {
  const step = (fault: Fault, again: boolean): Step => ({ plan: { fault, at }, emptied: false, again });
  const breaks = (isLong && isNew ? connectionBreaks : share(connectionBreaks, 3, turn)).map((fault) =>
    step(fault, true),
  );
  const replies = [
    share(stateChangeReplies, 2, turn).map((fault) => step(fault, true)),
    share(passingReplies, 3, turn).map((fault) => step(fault, false)),
  ];
  const unsure = acknowledges(command) ? [share(writeConcernReplies, 2, turn).map((fault) => step(fault, false))] : [];
  if (isLong) return [breaks, ...unsure, ...replies].flat();
  if (!isNew) return [];
  const lap = at + Math.floor(turn / connectionBreaks.length);
  return [...breaks, ...(replies[lap % replies.length] ?? []), ...unsure.flat()];
}

/** So many of them, one in the short form; others with every turn. */
function share<T>(all: readonly T[], most: number, turn: number): T[] {
  const count = isLong ? most : 1;
  return Array.from({ length: count }, (_, index) => all[(turn * count + index) % all.length] as T);
}

/** Returns what a round breaks at once. In the short form, that is a share, and another one in every round. */
export function inRound<T>(all: readonly T[], turn: number, of = 12): readonly T[] {
  return isLong ? all : all.filter((_, index) => (index + turn) % of === 0);
}

/** So many commands a round breaks at least, or it proves nothing: some faults hit writes alone. */
export const minHits = isLong ? 6 : 3;

/** As many commands as a server that fails for a moment has in hand. */
const times = 60;

/** A fault in many requests at once. */
export interface Round {
  readonly plan: Plan;
  readonly again: boolean;
}

/** Every fault in many commands of many requests: all of the first, or every third, so that repetitions are hit too. */
export const roundsAtOnce: readonly Round[] = [
  ...[...connectionBreaks, ...stateChangeReplies].map(
    (fault): Round => ({
      plan: { fault, at: 0, times },
      again: true,
    }),
  ),
  ...connectionBreaks.map((fault): Round => ({ plan: { fault, at: 1, every: 3, times }, again: true })),
  ...[...writeConcernReplies, ...passingReplies].map(
    (fault): Round => ({
      plan: { fault, at: 0, times },
      again: false,
    }),
  ),
];

/** Faults that do not pass before the deadline. */
export const lastingRounds: readonly Round[] = [
  { plan: { fault: { kind: "break", place: "before it", how: "close" }, at: 0, times: Infinity }, again: true },
  {
    plan: { fault: { kind: "break", place: "after it", how: "reset" }, at: "handshake", times: Infinity },
    again: true,
  },
  {
    plan: {
      fault: { kind: "reply", code: 10107, codeName: "NotWritablePrimary", topology: "current" },
      at: 0,
      times: Infinity,
    },
    again: true,
  },
];

/** By which mongod itself fails commands: its fail point `failCommand`. */
export const failPoints: readonly Readonly<Record<string, unknown>>[] = [
  { closeConnection: true },
  ...[91, 189, 10107, 11600, 11602].map((errorCode) => ({ errorCode })),
  ...[50, 246, 262].map((errorCode) => ({ errorCode, errorLabels: ["TransientTransactionError"] })),
  { errorCode: 189, closeConnection: true },
  { writeConcernError: { code: 91, errmsg: "injected" }, errorLabels: ["RetryableWriteError"] },
  { writeConcernError: { code: 64, errmsg: "injected" } },
];
