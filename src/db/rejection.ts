// Permanent failures of the first connection to MongoDB: credentials, privileges, certificates, files, modules.
import { MongoMissingDependencyError, MongoServerError, MongoServerSelectionError } from "mongodb";
import { innermostCode } from "./innermost-code.ts";
import { isDenied, unauthorized } from "./error-codes.ts";

/** Atlas has its own code for a wrong password. */
const atlasError = 8000;

/** Node's error codes for an untrusted certificate. */
const certificateCodes: ReadonlySet<string> = new Set([
  ...[
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "CERT_REVOKED",
    "CERT_UNTRUSTED",
    "CERT_REJECTED",
    "CERT_SIGNATURE_FAILURE",
  ],
  ...["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "INVALID_CA", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ...["UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
]);

/**
 * Returns instructions for the operator about a permanent error, to follow `MONGODB_URI: `; undefined for an error that
 * may pass.
 */
export function rejectionOf(error: unknown): string | undefined {
  if (error instanceof MongoServerError) return ofServer(error);
  if (error instanceof MongoMissingDependencyError)
    return `an option needs a module that is missing (${error.message})`;
  if (error instanceof MongoServerSelectionError)
    return ofOtherSet(error) ?? ofServers([...(error.reason?.servers.values() ?? [])].map((server) => server.error));
  const { syscall, code = "", path = "" } = error as NodeJS.ErrnoException;
  return syscall === "open" ? `the file ${path} cannot be read (${code})` : undefined;
}

/** Returns where and why MongoDB cannot be reached, for an operator: each server with its error or its state. */
export function unreachableAt(error: Error): string {
  const servers = error instanceof MongoServerSelectionError ? [...(error.reason?.servers.values() ?? [])] : [];
  if (servers.length === 0) return error.message;
  return servers
    .map(({ address, type, error: of }) => `${address}: ${innermostCode(of) ?? of?.name ?? type}`)
    .join(", ");
}

function ofServer({ code }: MongoServerError): string | undefined {
  if (code === unauthorized)
    return "the user may not read the database: grant it readWrite there, or correct the database";
  if (code === atlasError || isDenied(Number(code)))
    return "MongoDB rejects the user or the password: correct the user, the password (percent-encoded) or authSource";
  return undefined;
}

/** The driver forgets a server that belongs to another replica set. One that does not reply is kept. */
function ofOtherSet({ reason }: MongoServerSelectionError): string | undefined {
  if (reason == null || reason.setName === null || reason.servers.size > 0) return undefined;
  return `the servers belong to another replica set than ${reason.setName}: correct replicaSet`;
}

/** Requires a certificate error from every server, because one of several may still be right. */
function ofServers(errors: readonly unknown[]): string | undefined {
  const codes = errors.map((error) => innermostCode(error) ?? "");
  if (codes.length === 0 || !codes.every((code) => certificateCodes.has(code))) return undefined;
  return `the certificate of MongoDB is not trusted (${[...new Set(codes)].join(", ")}): set tlsCAFile to the CA that issued it, or renew the certificate`;
}
