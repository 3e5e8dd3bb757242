// What codes of MongoDB's errors mean: whose fault it is, and whether a read may be repeated.
import { MongoServerError } from "mongodb";

/** Codes by which the server says that a command is wrong: it would be so however often it is sent. */
const wrongCommand = new Set([
  // BadValue, NoSuchKey, FailedToParse, CannotMutateObject, TypeMismatch, Overflow, InvalidLength, ProtocolError, …
  ...[2, 4, 9, 10, 14, 15, 16, 17, 20, 22],
  // Names of collections, indexes and fields; conflicting operators.
  ...[26, 27, 28, 29, 30, 40, 48, 52, 53, 54, 55, 56, 57],
  // CommandNotFound, ShardKeyNotFound, ImmutableField, InvalidOptions, InvalidNamespace, conflicting indexes.
  ...[59, 61, 66, 67, 68, 72, 73, 76, 85, 86],
  // NotExactValueField, CommandNotSupported, DocumentValidationFailure, NotAReplicaSet, ExceededMemoryLimit.
  ...[111, 115, 121, 123, 146],
  // Views, InvalidPipelineOperator, CannotIndexParallelArrays, CannotBuildIndexKeys.
  ...[165, 166, 167, 168, 169, 171, 182, 195, 197, 201],
  // InvalidUUID, QueryFeatureNotAllowed, NotImplemented, ConversionFailure, CannotCreateCollection.
  ...[207, 224, 227, 232, 238, 241, 242],
  // TransactionTooLarge, OperationNotSupportedInTransaction, NoQueryExecutionPlans, memory limits, API versions, BSON.
  ...[257, 263, 291, 292, 322, 323, 324, 347, 352, 357, 361, 378, 388, 411],
]);

/** The user is unknown or has another password, or lacks a right: the operator can fix that, no caller can. */
const deniedCodes = new Set([11, 13, 18, 31, 33]);

/** Whether the server says that we may not: until somebody grants it, the service cannot serve. */
export function isDenied(code: number): boolean {
  return deniedCodes.has(code);
}

/** `$replaceWith` was given null: how a write says that its condition does not hold. */
export const withoutDocument = 40_228;
const duplicateKey = 11_000;

/** Whether the server says what a write met, and not that it failed: that is a caller's doing. */
export function isVerdict(code: number): boolean {
  return code === withoutDocument || code === duplicateKey;
}

/** Whether the server says that a document of the result would be larger than any can be. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof MongoServerError && Number(error.code) === 10_334;
}

/** From here on the server numbers its assertions, which are about what it was sent, but for these. */
const firstAssertion = 10_000;
const passingAssertions = new Set([
  10058, 10107, 11600, 11601, 11602, 12586, 12587, 13388, 13435, 13436, 14031, 46841, 50915, 56846, 91331, 10_045_600,
]);

/** Whether the server says that our command is wrong. An unknown code says that the server cannot serve. */
export function isOurFault(code: number): boolean {
  return wrongCommand.has(code) || (code >= firstAssertion && !passingAssertions.has(code));
}

/** Codes after which a read is repeated: the server shuts down, steps down or recovers. Not those of a time limit. */
export const repeatableCodes: ReadonlySet<number> = new Set([
  6, 7, 63, 91, 133, 134, 150, 189, 234, 276, 365, 371, 9001, 10107, 11600, 11602, 13388, 13435, 13436, 14031,
]);

/** Codes of a socket that broke, as the operating system and Node.js have them. */
export const brokenConnectionCodes: ReadonlySet<string> = new Set([
  ...["EPIPE", "ECONNRESET", "ECONNABORTED", "ECONNREFUSED", "ETIMEDOUT", "ENOTCONN", "ENOBUFS"],
  ...["EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETRESET", "ENETUNREACH", "EADDRNOTAVAIL", "EAI_AGAIN", "ENOTFOUND"],
  ...["EPROTO", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED"],
]);
