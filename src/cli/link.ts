// Link to the service: clients of the internal methods over HTTP/2, and error messages for the user.
import type { DescService } from "@bufbuild/protobuf";
import type { Client, Interceptor } from "@connectrpc/connect";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { innermostCode } from "../db/innermost-code.ts";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { CommandError, exitCodes } from "./exit.ts";
import type { Where } from "./where.ts";

/** A link to the service. */
export interface Link {
  readonly url: string;
  client<S extends DescService>(service: S): Client<S>;
  /** Closes the connection. An abandoned stream would keep the process alive until the service closes it. */
  close(): void;
}

/** How long a peer may be silent before it gets a ping, which detects a dead connection. */
const pingIntervalMs = 10_000;

/** Creates a link that connects on the first call. An idle connection does not keep the process alive. */
export function createLink({ url, token }: Where): Link {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  const sessionManager = new Http2SessionManager(url, { pingIntervalMs, pingTimeoutMs: pingIntervalMs });
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors: [authorize],
    sessionManager,
  });
  return {
    url,
    client: (service) => createClient(service, transport),
    close() {
      // Only these states keep the process alive. Aborting a connection that has just broken would throw its error
      // here.
      if (["open", "connecting"].includes(sessionManager.state())) sessionManager.abort();
    },
  };
}

/**
 * The codes by which the library reports a broken connection. InvalidArgument means a stream without its last message.
 */
const cutCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Aborted,
  Code.Canceled,
  Code.Internal,
  Code.DeadlineExceeded,
  Code.InvalidArgument,
]);

/**
 * Returns whether a retry may succeed without any other change: the connection broke, or the service is unavailable.
 */
export function isTransient(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  const reason = reasonOf(error);
  if (reason !== undefined) return reason === "UNAVAILABLE";
  // An error without a reason comes from the connection: it broke, or the instance at its other end was stopped.
  return cutCodes.has(code) || isCut(error);
}

/** The codes of TLS, of its alerts and of certificates that are not trusted. */
const tlsCodes = /^(?:EPROTO|(?:ERR_SSL|ERR_TLS|CERT|CRL|UNABLE_TO)_\w+|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*)$/;

/** Returns the error of a connection that TLS failed; undefined if it failed for another reason. */
export function tlsFailure(error: unknown, url: string): CommandError | undefined {
  const code = innermostCode(error) ?? "";
  if (!tlsCodes.test(code)) return undefined;
  return new CommandError(
    exitCodes.unreachable,
    "tls",
    `The TLS connection to ${url} failed (${code}). Check the scheme and the port, or renew the certificate. To trust a private authority, set NODE_EXTRA_CA_CERTS.`,
  );
}

/** Converts the error of a failed call into an error for the user. Returns any other error unchanged. */
export function explain(error: unknown, address: () => string): unknown {
  if (!(error instanceof ConnectError)) return error;
  const url = address();
  const { rawMessage, code } = error;
  const failure = (exitCode: 1 | 3, message: string): CommandError =>
    new CommandError(exitCode, codeToString(code), message);
  const system = innermostCode(error);
  const broken = tlsFailure(error, url);
  if (broken !== undefined) return broken;
  if (system === "ECONNREFUSED")
    return failure(exitCodes.unreachable, `Nothing listens at ${url}. Start the service (npm start), or set --url.`);
  if (system === "ENOTFOUND" || system === "EAI_AGAIN")
    return failure(exitCodes.unreachable, `${new URL(url).hostname} cannot be resolved. Check the address.`);
  if (code === Code.Unauthenticated)
    return failure(
      exitCodes.failed,
      `${url} rejected the service token (401). Use one of the service's SERVICE_TOKENS, or set DATA_DIR to its data folder.`,
    );
  if (reasonOf(error) === "WRITES_PAUSED")
    return failure(
      exitCodes.failed,
      "Writes are paused. To see why, run records status. To resume them, run records interface writes on.",
    );
  if (code === Code.Unimplemented)
    return failure(
      exitCodes.failed,
      `${url} does not support this command. Check that it is the internal listener (INTERNAL_PORT, 8081 by default) of this version.`,
    );
  if (reasonOf(error) === undefined && isTransient(error))
    return failure(
      exitCodes.unreachable,
      `The connection to ${url} was lost, or the server does not use HTTP/2: ${rawMessage}`,
    );
  return failure(code === Code.Unavailable ? exitCodes.unreachable : exitCodes.failed, rawMessage);
}

/** Returns the reason that the service gave; undefined if the error is not the service's own. */
function reasonOf(error: unknown): string | undefined {
  return ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.reason;
}

/** Returns whether the connection broke, as opposed to an error response of the service. */
function isCut(error: unknown): boolean {
  return /^(ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|ERR_HTTP2_\w+|ERR_STREAM_PREMATURE_CLOSE)$/.test(
    innermostCode(error) ?? "",
  );
}
