// Throttles back-channel logouts: a valid logout token by the user whom it names, all other requests by their address.
// One provider sends the logouts of all users from one address (contract §6, §8).
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../call/deadline.ts";
import { Failure, fail } from "../call/errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Capacity } from "./capacity.ts";
import type { Credential, CreateRecognizer } from "./credentials.ts";
import { digestName } from "./credentials.ts";
import type { ReceiveUnidentified } from "./unidentified-body.ts";

/** The session or user that a logout token names. */
export interface NamedByLogout {
  readonly issuer: string;
  readonly sid: string | undefined;
  readonly subject: string | undefined;
}

/**
 * Receives a logout token with `receive`, verifies it with `verify`, throttles the request, and calls `serve` with the
 * token's content. Fails with INVALID_LOGOUT_TOKEN, also if there is no token, with RATE_LIMITED, with UNAVAILABLE
 * under overload, and as `receive`, `verify` and `serve` do.
 */
export type EnterLogout<Logout> = (
  inbound: Inbound,
  deadline: Deadline,
  receive: () => Promise<string | undefined>,
  verify: (token: string) => Promise<Logout>,
  serve: (logout: Logout) => Promise<void>,
) => Promise<void>;

/** Creates the guard for logout tokens of any type that names a session or user. */
export function createEnterLogout<Logout extends NamedByLogout>(
  recognizers: CreateRecognizer,
  capacity: Capacity,
  receiveUnidentified: ReceiveUnidentified,
): EnterLogout<Logout> {
  const recognizer = recognizers(({ issuer, sid, subject }: Logout) => bucketOf(issuer, sid, subject));
  return async ({ address }, deadline, receive, verify, serve) => {
    // The bucket is known only once the token is: the provider's many users must not share the bucket of its address.
    const token = await receiveUnidentified({ address, deadline }, receive);
    let rejection: Failure | undefined;
    const credentialOf = (sent: string): Credential<Logout> => ({
      name: digestName(sent),
      isProvenLater: () => false,
      lookUp: () =>
        verify(sent).catch((error: unknown) => {
          if (!(error instanceof Failure) || error.reason !== Reason.INVALID_LOGOUT_TOKEN) throw error;
          rejection = error;
          return undefined;
        }),
    });
    const arrival = { address, deadline, optional: false, onHolder: () => undefined };
    const found = await recognizer.recognize(token === undefined ? undefined : credentialOf(token), arrival);
    if (found.kind === "unreadable") throw found.cause;
    if (found.kind === "invalid")
      throw rejection ?? fail(Reason.INVALID_LOGOUT_TOKEN, { message: "logout_token: is required." });
    await capacity.run("verified", deadline, () => serve(found.holder));
  };
}

function bucketOf(...names: (string | undefined)[]): string {
  return `logout:${digestName(JSON.stringify(names.map((name) => name ?? null)))}`;
}
