// Calls rpcs for an assistant, through the same guards and services as REST and with the same bodies.
import type { DescMessage, DescMethodUnary, Message, MessageShape } from "@bufbuild/protobuf";
import type { ArgumentReader } from "./arguments.ts";
import { createArgumentReader } from "./arguments.ts";
import { table } from "../http/route.ts";
import { mongoFailureOf } from "../db/mongo.ts";
import { inflateResponseText } from "../large/deflated.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Violation } from "../call/errors.ts";
import { Failure, inputFailure } from "../call/errors.ts";
import type { Dispatch, Inbound, OnError } from "../call/dispatch.ts";

/** The response of an operation: its message, and its REST body with the fields that REST itself lacks. */
export interface CallResult {
  readonly message: Message;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The operations, by rpc name (`searchContacts`). */
export interface Calls {
  /**
   * Calls an operation. Fails with a Failure. INVALID_REQUEST lists the violations `found` before, and then every
   * invalid argument.
   */
  call(
    operation: string,
    given: Readonly<Record<string, unknown>>,
    inbound: Inbound,
    found?: readonly Violation[],
  ): Promise<CallResult>;
  /** Calls an rpc that is not a REST operation. Fails as `call` does. */
  invoke<I extends DescMessage, O extends DescMessage>(
    rpc: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    inbound: Inbound,
    found: readonly Violation[],
  ): Promise<MessageShape<O>>;
}

interface Operation {
  readonly rpc: DescMethodUnary;
  readonly read: ArgumentReader;
  readonly write: (message: Message) => CallResult["body"];
}

/**
 * Creates the calls of the operations without a body, which are the reads. `onError` receives each failure with its
 * cause, which the assistant does not see.
 */
export function createCalls(dispatch: Dispatch, documentProvider: string, onError: OnError): Calls {
  const reads = table.filter(({ body, method }) => body === undefined && method === "GET");
  const operations = new Map(
    reads.map((route): [string, Operation] => [
      route.rpc.localName,
      {
        rpc: route.rpc,
        read: createArgumentReader(route),
        write: (message) => ({ ...route.write(message, documentProvider), ...route.beyond?.write(message) }),
      },
    ]),
  );
  const invoke: Calls["invoke"] = async (rpc, request, inbound, found) => {
    try {
      const admitted = await dispatch.admit(rpc, inbound);
      return (await admitted.invoke(request, found)).message as MessageShape<typeof rpc.output>;
    } catch (error) {
      const failure = withSources(mongoFailureOf(error), rpc);
      onError(failure, inbound);
      throw failure;
    }
  };
  return {
    invoke,
    async call(name, given, inbound, found = []) {
      const operation = operations.get(name);
      if (operation === undefined) throw new Error(`there is no operation ${name} for assistants`);
      const { message: request, violations } = operation.read(given);
      const message = await invoke(operation.rpc, request, inbound, [...found, ...violations]);
      await inflateResponseText(message);
      return { message, body: operation.write(message) };
    },
  };
}

/** Where to find the ids that arguments name. */
const sources: ReadonlyMap<string, string> = new Map([
  ["contact_id", "search_contacts finds the ids of contacts."],
  ["session_id", "list_sessions finds the ids of sessions."],
]);

/** Adds to an unknown or invalid id where to find ids, and to an invalid date the time (contract §8). */
function withSources(failure: Failure, rpc: DescMethodUnary): Failure {
  if (failure.reason === Reason.NOT_FOUND) {
    const found = rpc.input.fields.flatMap(({ name }) => sources.get(name) ?? []);
    return new Failure(failure.reason, { message: [failure.message, ...found].join(" ") });
  }
  const sourceOf = ({ field, rule }: Violation): string | undefined =>
    rule === "string.date_or_date_time"
      ? `Now it is ${new Date().toISOString()}.`
      : rule === "string.uuid"
        ? sources.get(field)
        : undefined;
  const { violations } = failure;
  if (!violations.some(sourceOf)) return failure;
  return inputFailure(
    violations.map((one) => {
      const source = sourceOf(one);
      return source === undefined ? one : { ...one, message: `${one.message}. ${source}` };
    }),
  );
}
