// Calls rpcs for an assistant: through the same guards and services as REST, and with the same bodies.
import type { DescMessage, DescMethodUnary, Message, MessageShape } from "@bufbuild/protobuf";
import type { ArgumentReader } from "../../gateway/arguments.ts";
import { createArgumentReader } from "../../gateway/arguments.ts";
import { table } from "../../gateway/route.ts";
import { failureFrom } from "../db/mongo.ts";
import { inflateHeld } from "../deflated.ts";
import type { Violation } from "../errors.ts";
import type { Dispatch, Inbound, OnError } from "../call/dispatch.ts";

/** What an operation returns: its message, and the body that REST has for it, with what REST does not have. */
export interface Called {
  readonly message: Message;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The operations by the names of their rpcs (`searchContacts`). */
export interface Calls {
  /** Fails with a Failure: INVALID_REQUEST names every argument that is wrong, after what was `found` wrong before. */
  call(
    operation: string,
    given: Readonly<Record<string, unknown>>,
    inbound: Inbound,
    found?: readonly Violation[],
  ): Promise<Called>;
  /** The same for an rpc that is no operation of REST. */
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
  readonly write: (message: Message) => Called["body"];
}

/** The operations without a body: the reads. `onError` gets why a call failed; an assistant learns only that it did. */
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
      const failure = failureFrom(error);
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
      await inflateHeld(message);
      return { message, body: operation.write(message) };
    },
  };
}
