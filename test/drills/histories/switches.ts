// The operator: sets a switch off over an instance that reaches the majority, leaves it so for a while, and sets it on.
import { setTimeout as sleep } from "node:timers/promises";
import type { Calls } from "./calls.ts";
import { now } from "./operation.ts";
import { pick } from "./registers.ts";

/** The operator's switches. */
export type SwitchName = "publicInterface" | "writes";

const rpcs = { publicInterface: "SetPublicInterface", writes: "SetWrites" } as const;
/** For so long it is looked whether the switch is in force: longer than it may take, with some to see it. */
const offMs = 3_000;

/** Sets the switch off and on again, each until it is acknowledged, over one of the instances. */
export async function operate(calls: Calls, name: SwitchName, instances: readonly string[]): Promise<void> {
  await insist(calls, name, false, instances);
  await sleep(offMs);
  await insist(calls, name, true, instances);
}

/** What is not acknowledged within a minute is in the history as such. */
async function insist(calls: Calls, name: SwitchName, enabled: boolean, instances: readonly string[]): Promise<void> {
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
