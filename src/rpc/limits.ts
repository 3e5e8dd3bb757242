// The size limit of an rpc's messages, from its proto.
import type { DescMethod } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { method as methodOption } from "../gen/records/v1/options_pb.ts";

/**
 * Returns the maximum size of a request message, in bytes. Throws if the proto does not set it, so it is called at the
 * start.
 */
export function maxMessageBytes(rpc: DescMethod): number {
  const { maxMessageBytes: limit } = getOption(rpc, methodOption);
  if (limit === 0) throw new Error(`${rpc.parent.typeName}/${rpc.name} sets no max_message_bytes`);
  return limit;
}
