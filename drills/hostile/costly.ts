// Puts every string into every field of every rpc and tool, and measures what each costs the instance.
import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { table } from "../../gateway/route.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { childToken } from "../../test/faults/child.ts";
import type { Operation, Where } from "../isolation/operations.ts";
import type { Person } from "../isolation/people.ts";
import { valuesOf } from "../isolation/values.ts";
import { send } from "../isolation/raw.ts";
import { cut, lengths, strings } from "./strings.ts";

/** A request that is hard on the instance. */
export interface Hard {
  readonly name: string;
  /** True where it is read in so many parts that others come between them, so that its cost blocks nobody. */
  readonly inParts?: boolean;
  send(): Promise<{ readonly status: number }>;
}

/** Every field of every operation, filled with every string, whole and cut to one of the lengths, each in its turn. */
export function* hardRequests(operations: readonly Operation[], person: Person): Generator<Hard> {
  const cuts = Object.keys(lengths) as Length[];
  let turn = 0;
  for (const operation of operations) {
    for (const field of operation.fields) {
      for (const what of strings.keys()) {
        yield hardRequest(operation, person, field, what, "whole");
        yield hardRequest(operation, person, field, what, cuts[turn++ % cuts.length] ?? "whole");
      }
    }
  }
}

type Length = keyof typeof lengths | "whole";

/** One field of an operation filled with one string. */
export function hardRequest(operation: Operation, person: Person, field: string, what: string, length: Length): Hard {
  return {
    name: `${operation.name} by ${operation.wire}, ${field}: ${what}, ${length}`,
    // Made when it is sent: all of them together are gigabytes.
    send() {
      const text = strings.get(what) ?? "";
      const base = Object.fromEntries(operation.required.map((name) => [name, valuesOf(name, person, person)?.own]));
      return attempt(operation, { ...base, [field]: length === "whole" ? text : cut(text, lengths[length]) }, person);
    },
  };
}

/** A text that no message can hold is not sent: in protobuf's binary form there are no lone surrogates. */
async function attempt(operation: Operation, given: Readonly<Record<string, unknown>>, person: Person): Promise<{ readonly status: number }> {
  try {
    return await operation.send(given, person);
  } catch (error) {
    if (error instanceof Error && /surrogate|UTF-8|URI malformed|utf/i.test(error.message)) return { status: 0 };
    throw error;
  }
}

/** The same for the items of the batches that services inside send: one of each string in every text of an item. */
export function* hardBatches({ internal }: Where, person: Person): Generator<Hard> {
  for (const rpc of IngestService.methods.filter(({ methodKind }) => methodKind === "unary")) {
    for (const list of rpc.input.fields.filter(({ fieldKind, message }) => fieldKind === "list" && message !== undefined)) {
      for (const field of (list.message as DescMessage).fields.filter(({ scalar, fieldKind }) => fieldKind === "scalar" && scalar === 9)) {
        for (const [what, text] of strings) {
          const request = (): string => JSON.stringify({ account_id: person.accountId, [list.name]: [{ [field.name]: text }] });
          yield { name: `${rpc.name} inside, ${field.name}: ${what}`, send: () => send(internal, "POST", `/${rpc.parent.typeName}/${rpc.name}`, { "content-type": "application/json", authorization: `Bearer ${childToken}` }, request()) };
        }
      }
    }
  }
}

/** A message of an rpc in protobuf's binary form. */
export function messageOf(name: string, json: JsonObject): { readonly path: string; readonly bytes: Uint8Array } {
  const rpc = table.map((route) => route.rpc).find((one) => one.name === name);
  if (rpc === undefined) throw new Error(`there is no rpc ${name}`);
  return { path: `${rpc.parent.typeName}/${rpc.name}`, bytes: toBinary(rpc.input, fromJson(rpc.input, json)) };
}
