// Calls rpcs for an assistant: through the same guards and services as REST, and with the same bodies.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { ArgumentReader } from "../../gateway/arguments.ts";
import { createArgumentReader } from "../../gateway/arguments.ts";
import type { Route } from "../../gateway/route.ts";
import { table } from "../../gateway/route.ts";
import { failureFrom } from "../db/mongo.ts";
import type { Violation } from "../errors.ts";
import type { OnError } from "../rpc/dispatch.ts";
import type { Dispatch, Inbound } from "../rpc/dispatch.ts";

/** What an operation answers: its message, and the body that REST has for it. */
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
}

interface Operation {
  readonly rpc: DescMethodUnary;
  readonly read: ArgumentReader;
  readonly write: Route["write"];
}

/** The operations without a body: the reads. `onError` hears why a call failed; an assistant hears only that it did. */
export function createCalls(dispatch: Dispatch, documentProvider: string, onError: OnError): Calls {
  const reads = table.filter(({ body, method }) => body === undefined && method === "GET");
  const operations = new Map(
    reads.map((route): [string, Operation] => [
      route.rpc.localName,
      { rpc: route.rpc, read: createArgumentReader(route), write: route.write },
    ]),
  );
  return {
    async call(name, given, inbound, found = []) {
      const operation = operations.get(name);
      if (operation === undefined) throw new Error(`there is no operation ${name} for an assistant`);
      const { message: request, violations } = operation.read(given);
      try {
        const admitted = await dispatch.admit(operation.rpc, inbound);
        const { message } = await admitted.invoke(request, [...found, ...violations]);
        return { message, body: operation.write(message, documentProvider) as Called["body"] };
      } catch (error) {
        const failure = failureFrom(error);
        onError(failure, inbound);
        throw failure;
      }
    },
  };
}
