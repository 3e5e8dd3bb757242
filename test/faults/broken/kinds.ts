// The kinds of faults: where a connection to MongoDB breaks under a command, and what a failing server replies.

/** Where a connection breaks, seen from the command that goes over it. */
export type Place =
  /** While the driver writes the command: the socket's own error, with which the driver does nothing. */
  | "while it is written"
  /** Before its bytes reach the server. */
  | "before it"
  /** In the middle of its bytes. */
  | "inside it"
  /** After the server has carried it out, and before the reply. */
  | "after it"
  /** In the middle of the reply. */
  | "inside the reply"
  /** After the reply. */
  | "after the reply";

/** A connection that breaks. */
export interface ConnectionBreak {
  readonly kind: "break";
  readonly place: Place;
  /** By a reset (RST), or by a clean close (FIN). */
  readonly how: "reset" | "close";
}

/** A reply that says that the server cannot. */
export interface ErrorReply {
  readonly kind: "reply";
  readonly code: number;
  readonly codeName: string;
  /** With the labels by which a server says what may be tried again. */
  readonly labelled?: true;
  /** The topology version that comes with it: of the server as the driver knows it, or as it is after a restart. */
  readonly topology?: "current" | "restarted";
  /** True where the server has carried out the write and cannot say that a majority has it. */
  readonly writeConcern?: true;
}

export type Fault = ConnectionBreak | ErrorReply;

const places: readonly Place[] = [
  "while it is written",
  "before it",
  "inside it",
  "after it",
  "inside the reply",
  "after the reply",
];
const hows = ["reset", "close"] as const;

/** Under a command. */
export const connectionBreaks: readonly ConnectionBreak[] = places.flatMap((place) =>
  hows.map((how): ConnectionBreak => ({ kind: "break", place, how })),
);

/** Under a handshake. */
export const handshakeBreaks: readonly ConnectionBreak[] = connectionBreaks.filter(
  ({ place }) => place !== "while it is written",
);

/** No longer the primary, or shutting down. */
const stateChanges: Readonly<Record<number, string>> = {
  91: "ShutdownInProgress",
  189: "PrimarySteppedDown",
  10107: "NotWritablePrimary",
  11600: "InterruptedAtShutdown",
  11602: "InterruptedDueToReplStateChange",
  13435: "NotPrimaryNoSecondaryOk",
  13436: "NotPrimaryOrSecondary",
};

/** Temporary failures. */
const passing: Readonly<Record<number, string>> = {
  6: "HostUnreachable",
  24: "LockTimeout",
  43: "CursorNotFound",
  46: "LockBusy",
  50: "MaxTimeMSExpired",
  64: "WriteConcernTimeout",
  89: "NetworkTimeout",
  112: "WriteConflict",
  134: "ReadConcernMajorityNotAvailableYet",
  175: "QueryPlanKilled",
  187: "LinearizableReadConcernError",
  206: "NoSuchSession",
  216: "ElectionInProgress",
  237: "CursorKilled",
  246: "SnapshotUnavailable",
  251: "NoSuchTransaction",
  262: "ExceededTimeLimit",
  279: "ClientDisconnect",
  290: "TransactionExceededLifetimeLimitSeconds",
  355: "InterruptedDueToStorageChange",
  365: "TemporarilyUnavailable",
  9001: "SocketException",
  11601: "Interrupted",
  14031: "OutOfDiskSpace",
};

const writeConcernCodes: Readonly<Record<number, string>> = {
  64: "WriteConcernTimeout",
  91: "ShutdownInProgress",
  189: "PrimarySteppedDown",
  11600: "InterruptedAtShutdown",
};

function codes(table: Readonly<Record<number, string>>): { code: number; codeName: string }[] {
  return Object.entries(table).map(([code, codeName]) => ({ code: Number(code), codeName }));
}

/** The server is no longer the primary, or is shutting down: the driver marks it as unknown briefly. */
export const stateChangeReplies: readonly ErrorReply[] = codes(stateChanges).flatMap((error): ErrorReply[] => [
  { kind: "reply", ...error, labelled: true, topology: "current" },
  { kind: "reply", ...error, topology: "restarted" },
]);

/** By which a server says that it cannot now, with labels and without. */
export const passingReplies: readonly ErrorReply[] = [
  ...codes({ ...stateChanges, ...passing }).map((error): ErrorReply => ({ kind: "reply", ...error })),
  ...codes(passing).map((error): ErrorReply => ({ kind: "reply", ...error, labelled: true })),
];

/** By which a server says that it has carried out a write, and does not know what becomes of it. */
export const writeConcernReplies: readonly ErrorReply[] = codes(writeConcernCodes).flatMap((error): ErrorReply[] => [
  { kind: "reply", ...error, writeConcern: true, labelled: true },
  { kind: "reply", ...error, writeConcern: true },
]);

/** The fault in words. */
export function nameOf(fault: Fault): string {
  if (fault.kind === "break") return `${fault.how === "reset" ? "a reset" : "a close"} ${fault.place}`;
  const { code, codeName, labelled, topology, writeConcern } = fault;
  const more = [writeConcern && "of the write concern", labelled && "labelled", topology && `topology ${topology}`];
  return [`${codeName} (${code})`, ...more.filter((part) => typeof part === "string")].join(", ");
}
