// Chain for streaming rpcs: runs the guards at the start and again for every message, without an overall deadline.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { mongoFailureOf, isUnavailable } from "../db/mongo.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Inbound, StreamDispatch } from "../call/dispatch.ts";
import type { Call } from "./call.ts";
import { countRows, factsOf, listOf } from "./call.ts";
import type { AccessPolicies } from "./chain.ts";
import { waitUntilReady } from "./chain.ts";
import type { Operator } from "./internal.ts";
import { validateBatch } from "./validate.ts";

/** The time limit of each batch, longer than a failover takes. The stream itself has no deadline. */
const batchMs = 30_000;

/** A streaming service method behind the chain. */
export type StreamHandler = (messages: AsyncIterable<Message>, operator: Operator) => AsyncIterable<Message>;

/** Creates the chain behind the internal listener's access policies. Only operators have streaming rpcs. */
export function createStreamDispatch(
  policies: AccessPolicies,
  handlers: ReadonlyMap<DescMethod, StreamHandler>,
): StreamDispatch {
  const operations = new Map(
    [...handlers].map(([rpc, handler]) => {
      const facts = factsOf(rpc);
      return [rpc, { handler, facts, policy: policies.policyOf(facts) }] as const;
    }),
  );
  return {
    async admit(rpc: DescMethod, inbound: Inbound) {
      const { handler, facts, policy } = operations.get(rpc) ?? fail(Reason.UNKNOWN_PATH);
      const call: Call = { ...facts, inbound };
      // Counts the records that the stream receives, or those that it sends if it receives none.
      const received = listOf(rpc.input);
      const sent = received === undefined ? call.list : undefined;
      const caller = await policy.identify(inbound);
      const check = (): void => policy.check(call, caller);
      check();
      const batchDeadline = (): Deadline => deadlineIn(batchMs, inbound.limits, inbound.tally);
      const operator = await policy.grant(call, caller, batchDeadline);
      if (operator?.kind !== "operator") throw new Error(`${rpc.name} streams, and is not the operator's`);

      async function* checked(messages: AsyncIterable<Message>): AsyncIterable<Message> {
        for await (const message of messages) {
          // A switch that changes during the stream applies from the next message.
          await waitUntilReady(policy.ready(inbound), batchDeadline());
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
          // The library's error for an unreadable message is passed on unchanged.
          throw isUnavailable(error) ? mongoFailureOf(error) : error;
        }
      };
    },
  };
}
