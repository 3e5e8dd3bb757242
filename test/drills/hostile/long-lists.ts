// Requests with lists as long as possible: field mask paths, and the records of internal requests.
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { UpdateContactRequestSchema } from "../../../src/gen/records/v1/contacts_pb.ts";
import { childToken } from "../../fixtures/service/child.ts";
import { everyService } from "../../fixtures/clients/descriptors.ts";
import type { Where } from "../isolation/operations.ts";
import type { User } from "../isolation/users.ts";
import { send } from "../isolation/raw.ts";
import type { Case } from "./cases.ts";

const limit = 262_000;
const proto = "application/proto";

/** Field mask paths for a share of the full length. */
const masks: readonly (readonly [name: string, paths: (share: number) => readonly string[]])[] = [
  ["unknown paths", (share) => Array.from({ length: 42_000 * share }, (_, at) => `n${at.toString(36)}`)],
  ["empty paths", (share) => times(120_000 * share, "")],
  ["* many times", (share) => times(85_000 * share, "*")],
  ["one path many times", (share) => times(37_000 * share, "phone")],
  ["one long path", (share) => ["n".repeat(250_000 * share)]],
];

export function longLists({ base, internal }: Where, { key, accountId, ids }: User): Case[] {
  const updateContact = "/records.v1.ContactService/UpdateContact";
  const by = { authorization: `Bearer ${key}` };
  const update = { contactId: ids.contact, phone: "1" };
  const ofMasks = masks.flatMap(([name, paths]): Case[] => [
    {
      name: `Connect: a mask of ${name}`,
      send: (share) => {
        const body = JSON.stringify({ ...update, updateMask: paths(share).join(",") });
        return send(base, "POST", updateContact, { ...by, "content-type": "application/json" }, body);
      },
    },
    {
      name: `Connect: a mask of ${name}, in binary`,
      send: (share) => {
        const message = create(UpdateContactRequestSchema, { ...update, updateMask: { paths: [...paths(share)] } });
        const body = toBinary(UpdateContactRequestSchema, message);
        return send(base, "POST", updateContact, { ...by, "content-type": proto }, body);
      },
    },
  ]);
  const rpcs = everyService.flatMap(({ methods }) => methods).filter(({ methodKind }) => methodKind === "unary");
  const ofItems = rpcs.flatMap((rpc) =>
    rpc.input.fields
      .filter(({ fieldKind }) => fieldKind === "list")
      .map(
        ({ name, number }): Case => ({
          name: `${rpc.name}: as many empty ${name} as fit`,
          send: (share) => {
            const headers = { authorization: `Bearer ${childToken}`, "content-type": proto };
            const items = Buffer.alloc(2 * Math.floor((limit / 2) * share), Buffer.from([(number << 3) | 2, 0]));
            const body = Buffer.concat([namesOf(rpc, accountId), items]);
            return send(internal, "POST", `/${rpc.parent.typeName}/${rpc.name}`, headers, body);
          },
        }),
      ),
  );
  return [...ofMasks, ...ofItems];
}

/** Encodes the required ids of a request, so that only its lists are invalid. */
function namesOf({ input }: DescMethod, id: string): Uint8Array {
  const names = input.fields.filter(({ name }) => name === "account_id" || name === "backup_id");
  const json: JsonObject = Object.fromEntries(names.map(({ name }) => [name, id]));
  return toBinary(input, fromJson(input, json));
}

function times(count: number, text: string): readonly string[] {
  return new Array<string>(Math.floor(count)).fill(text);
}
