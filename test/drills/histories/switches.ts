// The operator: turns a switch off over an instance that reaches the majority, waits, and turns it on again.
import { setTimeout as sleep } from "node:timers/promises";
import type { Calls } from "./calls.ts";
import { now } from "./operation.ts";
import { pick } from "./registers.ts";

export type SwitchName = "publicInterface" | "writes";

const rpcs = { publicInterface: "SetPublicInterface", writes: "SetWrites" } as const;
/** How long the switch stays off: longer than it may take to take effect. */
const offMs = 3_000;

/** Turns the switch off and on again over one of the instances, retrying each until it is acknowledged. */
export async function toggle(calls: Calls, name: SwitchName, instances: readonly string[]): Promise<void> {
  await setUntilAcknowledged(calls, name, false, instances);
  await sleep(offMs);
  await setUntilAcknowledged(calls, name, true, instances);
}

/** Gives up after a minute. The history shows the missing acknowledgment. */
async function setUntilAcknowledged(
  calls: Calls,
  name: SwitchName,
  enabled: boolean,
  instances: readonly string[],
): Promise<void> {
  for (const end = now() + 60_000; now() < end; ) {
    const intent = {
      client: "operator",
      instance: pick(instances),
      wire: "internal",
      kind: "switch" as const,
      value: `${name} ${enabled ? "on" : "off"}`,
    };
    const { outcome } = await calls.internal(intent, `records.admin.v1.InterfaceService/${rpcs[name]}`, {
      enabled,
      reason: "drill",
    });
    if (outcome === "ok") return;
    await sleep(100);
  }
}
