// records.admin.v1.InterfaceService: switches the public interface, and writes, off and on.
import type { InterfaceService as Descriptor, InterfaceState, Switch } from "../gen/records/admin/v1/interface_pb.ts";
import { timestamp } from "../db/message.ts";
import type { SwitchState } from "../guards/switches.ts";
import type { OperatorService } from "../rpc/routes.ts";
import type { SwitchDocument, SwitchStore } from "./store.ts";

/** The service over its store; `refresh` puts a switch in force on this instance before the answer leaves. */
export function createInterfaceService(switches: SwitchStore, refresh: () => Promise<void>): OperatorService<typeof Descriptor> {
  async function state(): Promise<InterfaceState> {
    const documents = await switches.read();
    const one = (name: keyof SwitchState): Switch => switchMessage(documents.find(({ _id }) => _id === name));
    return { $typeName: "records.admin.v1.InterfaceState", publicInterface: one("publicInterface"), writes: one("writes") };
  }
  async function set(name: keyof SwitchState, enabled: boolean, reason: string): Promise<InterfaceState> {
    await switches.set(name, enabled, reason);
    await refresh();
    return state();
  }
  return {
    async getState() {
      return { $typeName: "records.admin.v1.GetStateResponse", state: await state() };
    },
    async setPublicInterface({ enabled = true, reason }) {
      return { $typeName: "records.admin.v1.SetPublicInterfaceResponse", state: await set("publicInterface", enabled, reason) };
    },
    async setWrites({ enabled = true, reason }) {
      return { $typeName: "records.admin.v1.SetWritesResponse", state: await set("writes", enabled, reason) };
    },
  };
}

function switchMessage(document: SwitchDocument | undefined): Switch {
  return {
    $typeName: "records.admin.v1.Switch",
    enabled: document?.enabled ?? true,
    reason: document?.reason ?? "",
    ...(document === undefined ? {} : { changedAt: timestamp(document.changed_at) }),
  };
}
