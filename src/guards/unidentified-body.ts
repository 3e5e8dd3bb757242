// Limits the bodies of callers whom only the body can identify: they arrive before the throttle knows the bucket
// (contract §6).
import type { Arrival, RecognitionDependencies } from "./credentials.ts";
import { takeLookUp } from "./credentials.ts";
import { addressBucket } from "./throttle.ts";

/**
 * Receives a body with `receive`. While it arrives, it holds one of the failed look-ups that the client's network may
 * have. Fails with RATE_LIMITED if there is none left. A body that does not arrive completely counts as a failed
 * look-up, and takes a token of the address. A complete body takes none here, because its sender may have a bucket of
 * its own.
 */
export type ReceiveUnidentified = <Body>(
  arrival: Pick<Arrival<unknown>, "address" | "deadline">,
  receive: () => Promise<Body>,
) => Promise<Body>;

/** Creates the guard over the same buckets as the look-ups of credentials. */
export function createReceiveUnidentified(
  dependencies: Pick<RecognitionDependencies, "throttle" | "lookUps" | "onRejectedLookUp">,
): ReceiveUnidentified {
  return async ({ address, deadline }, receive) => {
    const giveBack = await takeLookUp(dependencies, address);
    try {
      const body = await receive();
      giveBack();
      return body;
    } catch (error) {
      await dependencies.throttle(addressBucket(address), deadline.tally);
      throw error;
    }
  };
}
