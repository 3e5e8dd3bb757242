// Rotates a key repeatedly under load, and counts the old keys that are accepted and the new ones that are not.
import { setTimeout as sleep } from "node:timers/promises";
import type { TestUser } from "../support/user.ts";
import type { TestService } from "../fixtures/service/service.ts";

export interface RotationCounts {
  readonly rotations: number;
  /** Old keys that passed after the response of their rotation. */
  readonly oldAccepted: number;
  /** New keys that did not pass. */
  readonly newRejected: number;
  /** Requests of the load that got neither 200 nor 401. */
  readonly disturbed: number;
  readonly load: number;
}

/** A read after a pause: without one, nearly all processor time would go into the load. */
export async function callRead(service: TestService, key: string): Promise<number> {
  await sleep(15);
  return (await service.rest("/v1/sessions?limit=1", { key })).status;
}

/** Rotates on one instance after the other; after every response each instance gets both keys at once. */
export async function rotateUnderLoad(
  user: TestUser,
  instances: readonly TestService[],
  rotations: number,
): Promise<RotationCounts> {
  const issue = async (path: string, instance: TestService | undefined): Promise<string> => {
    const { status, body } = await user.call(path, { method: "POST" }, instance);
    if (status !== 201) throw new Error(`${path} returned ${status}`);
    return body.data.key as string;
  };
  let key = await issue("/v1/api-key", instances[0]);
  let running = true;
  let [load, disturbed, oldAccepted, newRejected] = [0, 0, 0, 0];
  const workers = instances
    .flatMap((instance) => [instance, instance])
    .map(async (instance) => {
      while (running) {
        const status = await callRead(instance, key);
        load++;
        if (status !== 200 && status !== 401) disturbed++;
      }
    });
  for (let rotation = 0; rotation < rotations; rotation++) {
    const old = key;
    // Every instance knows the key, so that remembering it would show.
    await Promise.all(instances.map((instance) => callRead(instance, old)));
    key = await issue("/v1/api-key/rotate", instances[rotation % instances.length]);
    const fresh = key;
    const responses = await Promise.all(
      instances.map(async (instance) => [await callRead(instance, old), await callRead(instance, fresh)] as const),
    );
    oldAccepted += responses.filter(([withOld]) => withOld !== 401).length;
    newRejected += responses.filter(([, withNew]) => withNew !== 200).length;
  }
  running = false;
  await Promise.all(workers);
  return { rotations, oldAccepted, newRejected, disturbed, load };
}
