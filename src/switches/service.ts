// records.admin.v1.InterfaceService: switches the public interface and writes on or off, and records who did so.
import type {
  InterfaceService as Descriptor,
  InterfaceState,
  Switch,
  SwitchChange,
} from "../gen/records/admin/v1/interface_pb.ts";
import { SwitchChangeSchema } from "../gen/records/admin/v1/interface_pb.ts";
import { timestamp } from "../db/message.ts";
import type { Operator, OperatorCaller } from "../guards/internal.ts";
import { readableMessage } from "../guards/representable.ts";
import type { SwitchState } from "../guards/switches.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { SwitchChangeDocument, SwitchDocument, SwitchSetting, SwitchStore } from "./store.ts";

/** Dependencies of the interface service. */
export interface InterfaceServiceDependencies {
  readonly switches: SwitchStore;
  /** Applies a change of a switch on this instance before the response is sent. */
  readonly refresh: () => Promise<void>;
  /** Called with the new state of a switch that was changed. */
  readonly onChange: (setting: SwitchSetting, caller: OperatorCaller) => void;
  /** Called with the number of stored changes that cannot be read. */
  readonly onUnreadable: (count: number) => void;
}

const changesLimit = 100;

/** Creates the service over a store. */
export function createInterfaceService({
  switches,
  refresh,
  onChange,
  onUnreadable,
}: InterfaceServiceDependencies): OperatorService<typeof Descriptor> {
  async function state({ deadline }: Operator): Promise<InterfaceState> {
    const documents = await switches.read(deadline());
    const one = (name: keyof SwitchState): Switch => switchMessage(documents.find(({ _id }) => _id === name));
    return {
      $typeName: "records.admin.v1.InterfaceState",
      publicInterface: one("publicInterface"),
      writes: one("writes"),
    };
  }
  async function set(setting: SwitchSetting, operator: Operator): Promise<InterfaceState> {
    if (await switches.set(setting, operator.caller, operator.deadline())) onChange(setting, operator.caller);
    await refresh();
    return state(operator);
  }
  return {
    async getState(request, operator) {
      requireAllRead(request);
      return { $typeName: "records.admin.v1.GetStateResponse", state: await state(operator) };
    },
    async setPublicInterface({ enabled = true, reason, ...rest }, operator) {
      requireAllRead(rest);
      return {
        $typeName: "records.admin.v1.SetPublicInterfaceResponse",
        state: await set({ switch: "publicInterface", enabled, reason }, operator),
      };
    },
    async setWrites({ enabled = true, reason, ...rest }, operator) {
      requireAllRead(rest);
      return {
        $typeName: "records.admin.v1.SetWritesResponse",
        state: await set({ switch: "writes", enabled, reason }, operator),
      };
    },
    async listChanges({ limit = changesLimit, ...rest }, operator) {
      requireAllRead(rest);
      const stored = await switches.changes(limit, operator.deadline());
      const changes = stored.flatMap(
        (change) => readableMessage(SwitchChangeSchema, () => changeMessage(change)) ?? [],
      );
      const unreadable = stored.length - changes.length;
      if (unreadable > 0) onUnreadable(unreadable);
      return { $typeName: "records.admin.v1.ListChangesResponse", changes, unreadable };
    },
  };
}

/** Returns the public name of a switch. */
export function switchName(name: keyof SwitchState): string {
  return name === "publicInterface" ? "public_interface" : name;
}

function switchMessage(document: SwitchDocument | undefined): Switch {
  return {
    $typeName: "records.admin.v1.Switch",
    enabled: document?.enabled ?? true,
    reason: document?.reason ?? "",
    ...(document === undefined ? {} : { changedAt: timestamp(document.changed_at) }),
  };
}

/** Returns the message of a stored change. */
export function changeMessage({
  switch: name,
  enabled,
  reason,
  changed_at,
  address,
  token,
  request_id,
}: SwitchChangeDocument): SwitchChange {
  return {
    $typeName: "records.admin.v1.SwitchChange",
    switch: switchName(name),
    enabled,
    reason,
    changedAt: timestamp(changed_at),
    address,
    token,
    requestId: request_id,
  };
}
