// The public access policy over fake dependencies, new for each test, and what the tests send through it.
import { beforeEach } from "vitest";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { HealthService } from "../../src/gen/records/v1/health_pb.ts";
import type { Dispatch, RpcResponse } from "../../src/call/dispatch.ts";
import type { Made } from "./made.ts";
import { contactId, make, publicPoliciesOf } from "./made.ts";

export const { getContact, createContact } = ContactService.method;
export const { checkHealth } = HealthService.method;
export const key = { authorization: "Bearer rec_good" };
export const one = { contactId };
export const ann = { fullName: "Ann" };

/** The parts of a test and the chain over them. */
export interface PublicPolicy {
  parts(): Made;
  dispatch(): Dispatch;
  /** Sends a message through that chain, or another one. */
  call(
    rpc: Parameters<Made["call"]>[1],
    headers?: Record<string, string>,
    message?: object,
    through?: Dispatch,
  ): Promise<RpcResponse>;
}

/** Makes both before each test of the file. */
export function usePublicPolicy(): PublicPolicy {
  let parts: Made;
  let dispatch: Dispatch;
  beforeEach(() => {
    parts = make();
    dispatch = parts.behind(publicPoliciesOf(parts));
  });
  return {
    parts: () => parts,
    dispatch: () => dispatch,
    call: (rpc, headers, message, through = dispatch) => parts.call(through, rpc, headers, message),
  };
}
