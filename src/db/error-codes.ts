// Classifies MongoDB's error codes: whose fault an error is, and whether a read may be repeated.
import { MongoServerError } from "mongodb";

/** Codes of invalid commands, which fail however often they are sent. */
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
  // FeatureNotSupported, as databases that imitate MongoDB reply.
  ...[303, 304],
  // TransactionTooLarge, OperationNotSupportedInTransaction, NoQueryExecutionPlans, memory limits, API versions, BSON.
  ...[257, 263, 291, 292, 322, 323, 324, 347, 352, 357, 361, 378, 388, 411],
]);

/** The user lacks a privilege. */
export const unauthorized = 13;
/** The user is unknown, has another password, or lacks a privilege. Only the operator can fix that. */
const deniedCodes = new Set([11, unauthorized, 18, 31, 33]);

/** Whether the server denies us access. The service cannot work until an operator grants it. */
export function isDenied(code: number): boolean {
  return deniedCodes.has(code);
}

/** `$replaceWith` was given null, which is how a write reports that its condition does not hold. */
export const replaceWithNullCode = 40_228;
/** A value that a unique index already has. */
export const duplicateKey = 11_000;

/**
 * Whether the code reports a conflict with stored data rather than a failed command. The caller causes such conflicts.
 */
export function isDataConflict(code: number): boolean {
  return code === replaceWithNullCode || code === duplicateKey;
}

/** A document exceeds 16 MB, a buffer 64 MB, or the documents of a look-up 100 MB. */
const tooLarge = new Set([10_334, 13_548, 4_568]);

/** Whether documents of the result would exceed MongoDB's size limits. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof MongoServerError && tooLarge.has(Number(error.code));
}

/** From this code on, server assertions concern the command, except for the following codes. */
const firstAssertion = 10_000;
const transientAssertions = new Set([
  10058, 10107, 11600, 11601, 11602, 12586, 12587, 13388, 13435, 13436, 14031, 46841, 50915, 56846, 91331, 10_045_600,
]);

/** Whether the code means that our command is invalid. An unknown code means that the server is unavailable. */
export function isInvalidCommand(code: number): boolean {
  return wrongCommand.has(code) || (code >= firstAssertion && !transientAssertions.has(code));
}

/**
 * Codes after which a read is repeated: the server shuts down, steps down or recovers. Time limits are not among them.
 */
export const repeatableCodes: ReadonlySet<number> = new Set([
  6, 7, 63, 91, 133, 134, 150, 189, 234, 276, 365, 371, 9001, 10107, 11600, 11602, 13388, 13435, 13436, 14031,
]);
