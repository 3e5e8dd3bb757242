// 503: rejects requests by the operator's switches, as this instance last read them.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../call/errors.ts";

/** Whether the public interface and writes are on. */
export interface SwitchState {
  readonly publicInterface: boolean;
  readonly writes: boolean;
}

/** Fails with INTERFACE_DISABLED while the public interface is off. */
export function requireInterface(state: SwitchState): void {
  if (!state.publicInterface) fail(Reason.INTERFACE_DISABLED);
}
