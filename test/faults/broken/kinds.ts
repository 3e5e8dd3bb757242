// The kinds of faults: where a connection to MongoDB breaks during a command, and what a failing server replies.

/** Where a connection breaks, relative to a command. */
export type Place =
  /** While the driver writes the command: a socket error that the driver does not handle. */
  | "while it is written"
  /** Before its bytes reach the server. */
  | "before it"
  /** In the middle of its bytes. */
  | "inside it"
  /** After the server has carried it out, before the reply. */
  | "after it"
  /** In the middle of the reply. */
  | "inside the reply"
  | "after the reply";

export interface ConnectionBreak {
  readonly kind: "break";
  readonly place: Place;
  /** A reset (RST) or a clean close (FIN). */
  readonly how: "reset" | "close";
}

export interface ErrorReply {
  readonly kind: "reply";
  readonly code: number;
  readonly codeName: string;
  /** Whether it has the labels for retryable errors. */
  readonly labeled?: true;
  /** The topology version in the reply: the one that the driver knows, or one after a restart. */
  readonly topology?: "current" | "restarted";
  /** True if the server has carried out the write but cannot confirm a majority. */
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
const ways = ["reset", "close"] as const;

export const connectionBreaks: readonly ConnectionBreak[] = places.flatMap((place) =>
  ways.map((how): ConnectionBreak => ({ kind: "break", place, how })),
);

export const handshakeBreaks: readonly ConnectionBreak[] = connectionBreaks.filter(
  ({ place }) => place !== "while it is written",
);

/** Errors of a server that is no longer the primary or is shutting down. */
const stateChanges: Readonly<Record<number, string>> = {
  91: "ShutdownInProgress",
  189: "PrimarySteppedDown",
  10107: "NotWritablePrimary",
  11600: "InterruptedAtShutdown",
  11602: "InterruptedDueToReplStateChange",
  13435: "NotPrimaryNoSecondaryOk",
  13436: "NotPrimaryOrSecondary",
};

const temporary: Readonly<Record<number, string>> = {
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

/** Replies of a server that is no longer the primary or is shutting down. The driver briefly marks it as unknown. */
export const stateChangeReplies: readonly ErrorReply[] = codes(stateChanges).flatMap((error): ErrorReply[] => [
  { kind: "reply", ...error, labeled: true, topology: "current" },
  { kind: "reply", ...error, topology: "restarted" },
]);

/** Replies for temporary failures, with and without labels. */
export const temporaryReplies: readonly ErrorReply[] = [
  ...codes({ ...stateChanges, ...temporary }).map((error): ErrorReply => ({ kind: "reply", ...error })),
  ...codes(temporary).map((error): ErrorReply => ({ kind: "reply", ...error, labeled: true })),
];

/** Replies for a write that was carried out but not confirmed. */
export const writeConcernReplies: readonly ErrorReply[] = codes(writeConcernCodes).flatMap((error): ErrorReply[] => [
  { kind: "reply", ...error, writeConcern: true, labeled: true },
  { kind: "reply", ...error, writeConcern: true },
]);

export function nameOf(fault: Fault): string {
  if (fault.kind === "break") return `${fault.how === "reset" ? "a reset" : "a close"} ${fault.place}`;
  const { code, codeName, labeled, topology, writeConcern } = fault;
  const more = [writeConcern && "write concern", labeled && "labeled", topology && `topology ${topology}`];
  return [`${codeName} (${code})`, ...more.filter((part) => typeof part === "string")].join(", ");
}
