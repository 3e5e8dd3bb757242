// Plans which faults to inject where: into each command of one request, and into many commands of concurrent requests.
import {
  connectionBreaks,
  handshakeBreaks,
  temporaryReplies,
  stateChangeReplies,
  writeConcernReplies,
} from "./kinds.ts";
import type { Fault } from "./kinds.ts";
import type { Command } from "./message.ts";
import type { Plan } from "./proxy.ts";
import { acknowledges } from "./error-reply.ts";
import { isLong } from "../../support/form.ts";

export interface Step {
  readonly plan: Plan;
  /** Whether to empty the pool first, so that the first command needs a handshake. */
  readonly emptied: boolean;
  /** Whether to repeat the operation without the fault, because the driver may keep state. */
  readonly again: boolean;
}

/**
 * The faults for the commands of a request: several kinds of faults for each command that is new for its service (not
 * in `seen`), and a share of them for the others. The share depends on `turn`, so that the operations together cover
 * all faults. In the long form, `roundsAtOnce` has every fault for every operation.
 */
export function stepsFor(service: string, commands: readonly Command[], turn: number, seen: Set<string>): Step[] {
  const kinds = commands.map(
    ({ name, collection, inTransaction }) => `${service} ${name} ${collection} ${inTransaction}`,
  );
  return [
    // Breaks commands that repeat within a request only the first and the last time.
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

/** In the short form, an operation has one: either a break of its first command, or one while connecting. */
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
 * In the short form, only new commands have faults: a break and error replies. The kind of reply changes after all
 * breaks have had their turn, so that every combination occurs.
 */
function stepsUnder(command: Command, at: number, turn: number, isNew: boolean): Step[] {
  const step = (fault: Fault, again: boolean): Step => ({ plan: { fault, at }, emptied: false, again });
  const breaks = (isLong && isNew ? connectionBreaks : share(connectionBreaks, 3, turn)).map((fault) =>
    step(fault, true),
  );
  const replies = [
    share(stateChangeReplies, 2, turn).map((fault) => step(fault, true)),
    share(temporaryReplies, 3, turn).map((fault) => step(fault, false)),
  ];
  const unsure = acknowledges(command) ? [share(writeConcernReplies, 2, turn).map((fault) => step(fault, false))] : [];
  if (isLong) return [breaks, ...unsure, ...replies].flat();
  if (!isNew) return [];
  const cycle = at + Math.floor(turn / connectionBreaks.length);
  return [...breaks, ...(replies[cycle % replies.length] ?? []), ...unsure.flat()];
}

/** A share of the faults, one in the short form, which differs with every turn. */
function share<T>(all: readonly T[], most: number, turn: number): T[] {
  const count = isLong ? most : 1;
  return Array.from({ length: count }, (_, index) => all[(turn * count + index) % all.length] as T);
}

/** Returns the operations that a round breaks. In the short form, that is a share that differs in every round. */
export function inRound<T>(all: readonly T[], turn: number, of = 12): readonly T[] {
  return isLong ? all : all.filter((_, index) => (index + turn) % of === 0);
}

/** The minimum number of commands that a round must break. Some faults only hit writes. */
export const minHits = isLong ? 6 : 3;

/** As many commands as a briefly failing server has in progress. */
const times = 60;

/** A fault in many requests at once. */
export interface Round {
  readonly plan: Plan;
  readonly again: boolean;
}

/**
 * Every fault in many commands of concurrent requests: in the first commands, or in every third, to hit retries too.
 */
export const roundsAtOnce: readonly Round[] = [
  ...[...connectionBreaks, ...stateChangeReplies].map(
    (fault): Round => ({
      plan: { fault, at: 0, times },
      again: true,
    }),
  ),
  ...connectionBreaks.map((fault): Round => ({ plan: { fault, at: 1, every: 3, times }, again: true })),
  ...[...writeConcernReplies, ...temporaryReplies].map(
    (fault): Round => ({
      plan: { fault, at: 0, times },
      again: false,
    }),
  ),
];

/** Faults that last beyond the deadline. */
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

/** Settings of mongod's fail point `failCommand`. */
export const failPoints: readonly Readonly<Record<string, unknown>>[] = [
  { closeConnection: true },
  ...[91, 189, 10107, 11600, 11602].map((errorCode) => ({ errorCode })),
  ...[50, 246, 262].map((errorCode) => ({ errorCode, errorLabels: ["TransientTransactionError"] })),
  { errorCode: 189, closeConnection: true },
  { writeConcernError: { code: 91, errmsg: "injected" }, errorLabels: ["RetryableWriteError"] },
  { writeConcernError: { code: 64, errmsg: "injected" } },
];
