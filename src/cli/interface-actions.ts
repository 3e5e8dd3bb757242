// Implements the commands of `records interface`.
import type { InterfaceState, Switch } from "../gen/records/admin/v1/interface_pb.ts";
import { InterfaceService } from "../gen/records/admin/v1/interface_pb.ts";
import { rejectUsage } from "./exit.ts";
import type { Link } from "./link.ts";
import { timestampCell, timestampText } from "./timestamp-text.ts";
import type { Json, Output } from "./output.ts";
import { counted, facts } from "./output.ts";

const maxLimit = 1_000;

/** Creates the actions over a link. Each one reports its result, and rejects if it fails. */
export function interfaceActions(output: Output, link: Link) {
  const service = link.client(InterfaceService);
  return {
    async set(name: "public_interface" | "writes", enabled: boolean, reason: string): Promise<void> {
      const { state } = await (name === "writes"
        ? service.setWrites({ enabled, reason })
        : service.setPublicInterface({ enabled, reason }));
      output.result(switchesDocument(state), facts(switchesFacts(state, output)));
    },
    async log(limitText: string): Promise<void> {
      const limit = /^[1-9]\d{0,3}$/.test(limitText) ? Number(limitText) : maxLimit + 1;
      if (limit > maxLimit) rejectUsage(`--limit: must be a whole number from 1 to ${maxLimit}, not "${limitText}".`);
      const { changes, unreadable } = await service.listChanges({ limit });
      const documents = changes.map((one) => ({
        switch: one.switch,
        enabled: one.enabled,
        reason: one.reason,
        changed_at: timestampText(one.changedAt),
        address: one.address,
        token: one.token,
        request_id: one.requestId,
      }));
      const rows = documents.map((one) => [
        one.changed_at === null ? "" : output.time(one.changed_at),
        one.switch,
        one.enabled ? "on" : "off",
        one.address,
        one.token,
        one.reason,
      ]);
      output.result({ changes: documents, unreadable }, [
        ...output.table(["WHEN", "SWITCH", "SET", "FROM", "TOKEN", "REASON"], rows),
        ...(unreadable === 0 ? [] : [`Left out, because they can't be read: ${counted(unreadable, "change")}.`]),
      ]);
    },
  };
}

/** Returns both switches as JSON. */
export function switchesDocument(state: InterfaceState | undefined): { readonly [name: string]: Json } {
  const one = ({ enabled, reason, changedAt }: Switch): Json => ({
    enabled,
    reason,
    changed_at: timestampText(changedAt),
  });
  return {
    public_interface: state?.publicInterface ? one(state.publicInterface) : null,
    writes: state?.writes ? one(state.writes) : null,
  };
}

/** Returns both switches for display: their state, and since when and why they have it. */
export function switchesFacts(
  state: InterfaceState | undefined,
  output: Output,
): (readonly [name: string, value: string])[] {
  const one = (set: Switch | undefined): string => {
    if (set === undefined) return "unknown";
    const how = set.enabled ? output.paint("green", "on") : output.paint("red", "off");
    const since = timestampCell(set.changedAt, output);
    return [how, ...(since === "" ? [] : [`since ${since}`]), ...(set.reason === "" ? [] : [`(${set.reason})`])].join(
      " ",
    );
  };
  return [
    ["interface", one(state?.publicInterface)],
    ["writes", one(state?.writes)],
  ];
}
