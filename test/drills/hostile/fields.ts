// The places in a body that take text: every field on every wire, property names, and malformed bodies.
import { gzipSync } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { AccountService } from "../../../src/gen/records/admin/v1/accounts_pb.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Operation, Where } from "../isolation/operations.ts";
import type { User } from "../isolation/users.ts";
import { send } from "../isolation/raw.ts";
import { valuesOf } from "../isolation/values.ts";
import type { Request } from "./requests.ts";
import type { Slot, Way } from "./slots.ts";
import type { Status, Wire } from "./wire.ts";

/** Sizes in bytes: above the limits of the longest field, the longest note and shorter fields. */
const sizes = [240_000, 40_000, 10_000, 200, 100, 50];
/** Inflated sizes of a compressed message. */
const inflated = [1_000_000, 240_000];
/** Sizes for a path or a query. */
const inTarget = [10_000, 200, 100];

export function fieldSlots(operations: readonly Operation[], user: User): Slot[] {
  const slots = new Map<string, Way[]>();
  for (const operation of operations) {
    for (const field of operation.fields) {
      const slot = `the field ${field}`;
      const required = Object.fromEntries(operation.required.map((name) => [name, valuesOf(name, user, user)?.own]));
      // Paths and queries percent-encode the text, three bytes for one.
      const maxBytes = operation.wire === "REST" && !operation.writes ? inTarget : sizes;
      const way = textWay(`${operation.name} by ${operation.wire}`, maxBytes, (text) =>
        operation.send({ ...required, [field]: text }, user),
      );
      slots.set(slot, [...(slots.get(slot) ?? []), way]);
    }
  }
  return [...slots].map(([name, ways]) => ({ name, ways }));
}

/** Every text field of the internal RPCs: ingest batches and account administration. */
export function internalSlots({ internal }: Where, user: User): Slot[] {
  const call = (path: string, message: object): Promise<Status> =>
    send(
      internal,
      "POST",
      `/${path}`,
      { "content-type": "application/json", authorization: `Bearer ${childToken}` },
      JSON.stringify(message),
    );
  return [...IngestService.methods, ...AccountService.methods]
    .filter(({ methodKind }) => methodKind === "unary")
    .flatMap(({ parent, name, input }) => {
      const path = `${parent.typeName}/${name}`;
      const slot = (field: string, message: (text: string) => object): Slot => ({
        name: `${name}, ${field}`,
        ways: [textWay("the internal listener", sizes, (text) => call(path, message(text)))],
      });
      return input.fields.flatMap((field) => {
        if (isText(field)) return [slot(field.name, (text) => ({ [field.name]: text }))];
        if (field.fieldKind !== "list") return [];
        const batch = (item: unknown): object => ({ account_id: user.accountId, [field.name]: [item] });
        if (field.message === undefined) return [slot(field.name, batch)];
        return textsOf(field.message).map((one) => slot(`${field.name}.${one}`, (text) => batch({ [one]: text })));
      });
    });
}

/** Places in a body: property names, the whole body, forms and JSON-RPC methods. */
export function bodySlots(requests: readonly Request[], wire: Wire): Slot[] {
  const withBody = requests.filter(({ sent }) => sent.body !== undefined);
  const spoken = (type: string) => withBody.filter(({ sent }) => sent.headers["content-type"] === type);
  const slot = (name: string, among: readonly Request[], write: (text: string) => string): Slot => ({
    name,
    ways: among.map((request) =>
      textWay(request.name, sizes, (text) => wire.send({ ...request.sent, body: Buffer.from(write(text)) })),
    ),
  });
  const json = spoken("application/json");
  const compressed = (text: string): Uint8Array => gzipSync(JSON.stringify({ [text]: 1 }));
  return [
    {
      name: "a property's name in a compressed body",
      ways: json.map(({ name, sent }) =>
        textWay(name, inflated, (text) =>
          wire.send({ ...sent, headers: { ...sent.headers, "content-encoding": "gzip" }, body: compressed(text) }),
        ),
      ),
    },
    slot("a property's name", json, (text) => JSON.stringify({ [text]: 1 })),
    slot("a property's name, twice", json, (text) => `{${JSON.stringify(text)}:1,${JSON.stringify(text)}:1}`),
    slot("the name of a deep property", json, (text) => JSON.stringify({ params: { arguments: { [text]: 1 } } })),
    slot("a body", withBody, (text) => text),
    slot("a body that begins as JSON", json, (text) => `{"a":${text}`),
    slot("a value without quotes", json, (text) => `{"full_name":${text}}`),
    slot(
      "a method of JSON-RPC",
      json.filter(({ name }) => name.startsWith("MCP")),
      (text) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: text }),
    ),
    slot("a form", spoken("application/x-www-form-urlencoded"), (text) => `logout_token=${text}`),
  ];
}

function textWay(name: string, maxBytes: readonly number[], put: (text: string) => Promise<Status>): Way {
  return {
    name,
    maxBytes,
    // Counts JSON escapes, or the size limit would reject the text.
    bytesOf: (text) => Buffer.byteLength(JSON.stringify(text)),
    // Skips lone surrogates, which binary protobuf cannot represent.
    send: async (text) => {
      try {
        return await put(text);
      } catch (error) {
        if (error instanceof Error && /surrogate|UTF-8|URI malformed|cannot decode/i.test(error.message))
          return undefined;
        throw error;
      }
    },
  };
}

function isText({ fieldKind, scalar }: DescMessage["fields"][number]): boolean {
  return fieldKind === "scalar" && scalar === 9;
}

function textsOf(message: DescMessage): string[] {
  return message.fields.filter(isText).map(({ name }) => name);
}
