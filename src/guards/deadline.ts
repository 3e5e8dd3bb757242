// 503 at the deadline: a request is answered within 5 seconds, whatever MongoDB or Redis does (contract §10).
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Failure } from "../errors.ts";

/** From the arrival of a request to its answer, with room for the answer to travel. */
export const deadlineMs = 4_800;

/** Settles as the promise does, or fails with UNAVAILABLE after `ms`; what runs then goes on and is not waited for. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = (): void => reject(new Failure(Reason.UNAVAILABLE, { message: "The service could not answer in time; try again." }));
    timer = setTimeout(tooLate, Math.max(0, ms));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
