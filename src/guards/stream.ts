// The chain for rpcs that stream: runs the guards at the beginning and again for every message, without a deadline.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { failureFrom, isUnavailable } from "../db/mongo.ts";
import { deadlineIn } from "../deadline.ts";
import { fail } from "../errors.ts";
import type { Inbound, StreamDispatch } from "../call/dispatch.ts";
import type { Call } from "./call.ts";
import { countRows, factsOf, listOf } from "./call.ts";
import type { AccessPolicy } from "./chain.ts";
import { judge } from "./chain.ts";
import type { Operator } from "./internal.ts";
import { validateBatch } from "./validate.ts";

/** A stream has no deadline; each of its batches has: longer than a failover takes. */
const batchMs = 30_000;

/** A service method that streams, behind the chain. */
export type StreamHandler = (messages: AsyncIterable<Message>, operator: Operator) => AsyncIterable<Message>;

/** The chain behind the internal listener's access policy: only an operator's rpcs stream. */
export function createStreamDispatch(
  accessPolicy: AccessPolicy,
  handlers: ReadonlyMap<DescMethod, StreamHandler>,
): StreamDispatch {
  return {
    async admit(rpc: DescMethod, inbound: Inbound) {
      const handler = handlers.get(rpc) ?? fail(Reason.UNKNOWN_PATH);
      const call: Call = { ...factsOf(rpc), inbound };
      // The records of a stream are those that it takes; one that takes none sends them.
      const received = listOf(rpc.input);
      const sent = received === undefined ? call.list : undefined;
      const caller = await accessPolicy.identify(inbound, call);
      const check = (): void => judge(accessPolicy.guards(call), call, caller);
      check();
      const operator = await accessPolicy.grant(call, caller, () => deadlineIn(batchMs, inbound.limits, inbound.tally));
      if (operator?.kind !== "operator") throw new Error(`${rpc.name} streams, and is not the operator's`);

      async function* checked(messages: AsyncIterable<Message>): AsyncIterable<Message> {
        for await (const message of messages) {
          // A switch that is thrown while the stream runs is in force on its next message.
          check();
          validateBatch(rpc.input, message);
          countRows(inbound, message, received);
          yield message;
        }
      }

      return async function* (messages) {
        try {
          for await (const message of handler(checked(messages), operator)) {
            countRows(inbound, message, sent);
            yield message;
          }
        } catch (error) {
          // What the library says of a message that it cannot read stays in its words.
          throw isUnavailable(error) ? failureFrom(error) : error;
        }
      };
    },
  };
}
