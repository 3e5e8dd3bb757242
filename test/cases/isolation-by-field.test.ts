// No field of a request shows another account's records: each that has an id gets those of another, on every wire.
import { getOption } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RpcFacts } from "../fixtures/clients/descriptors.ts";
import { everyService, rpcsOf } from "../fixtures/clients/descriptors.ts";
import { named } from "../fixtures/clients/operations.ts";
import type { Fields, Named, Wire } from "../fixtures/clients/wires.ts";
import { openWires } from "../fixtures/clients/wires.ts";
import { field as fieldOption } from "../../src/gen/records/v1/options_pb.ts";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import type { RecordJson } from "../support/streams.ts";
import { importAll } from "../support/streams.ts";
import { requestTo, writesIn } from "../support/writes.ts";
import type { Ids, Probe } from "./foreign-ids.ts";
import { flawsOf } from "./foreign-ids.ts";
import type { IdField } from "./id-fields.ts";
import { idFieldsOf, samplesOf, withId, variantsOf } from "./id-fields.ts";
import { share } from "../support/form.ts";

const service = useService();
let wires: readonly Wire[];
let close: () => void;
let owner: Client;
/** Another, whose own records may get the ids of the stranger's: they would hide something from the owner's tests. */
let maker: Client;
let stranger: Client;
let own: Ids;
let foreign: Ids;
const mark = "marigold";

beforeAll(async () => {
  ({ wires, close } = openWires(service()));
  [owner, maker, stranger] = [await newClient(service()), await newClient(service()), await newClient(service())];
  own = await recordsOf(owner, "foxglove");
  foreign = { ...(await recordsOf(stranger, mark)), account: stranger.id };
});
afterAll(() => close());

/** Records that every request of the tests finds, each with this word. */
async function recordsOf({ put }: Client, word: string): Promise<Ids> {
  const text = `Ann, hello, the budget: ${word}`;
  const contact = await put.contact({ full_name: text, memory: text });
  const session = await put.session({ title: text, contact_id: contact, session_date: "2026-01-31T09:30:00Z" });
  const [contactNote = ""] = await put.contactNotes({ contact_id: contact, content: text, source: "import" });
  const type = "SESSION_NOTE_TYPE_AI_PREDEFINED";
  const [sessionNote = ""] = await put.sessionNotes({ session_id: session, content: text, type, position: 0 });
  await put.transcript({ session_id: session, transcript: text });
  return { contact, session, "contact's note": contactNote, "session's note": sessionNote };
}

/** Everything of the stranger, as it is stored. */
async function stored(): Promise<string> {
  const db = service().app.client.db();
  const account_id = UUID.createFromHexString(stranger.id);
  const names = ["contacts", "sessions", "notes", "transcripts", "imports"];
  return JSON.stringify(
    await Promise.all(names.map((name) => db.collection(name).find({ account_id }).sort({ _id: 1 }).toArray())),
  );
}

/** The reads of an API key, and the writes that have to take part. */
const rpcs = [
  ...rpcsOf(everyService).filter(({ caller, writes }) => caller === "key" && !writes),
  ...writesIn("isolation"),
];
const samples = samplesOf(rpcs.map((rpc) => [rpc.rpc.input, requestTo(rpc, { contact: "", session: "" })]));

/** Fields whose id may make a difference, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "ContactItem.id": "names the item itself: under an unknown id it is made, and one of another account is rejected",
  "SessionItem.id": "as that of a contact",
  "SessionNoteItem.id": "as that of a contact",
  "ContactNoteItem.id": "as that of a contact",
  "Recording.id": "names no record: it is stored as it is sent",
};
/** Not tested: it selects the account, and the service token is for every account. */
const ofOperator = "account_id";

const fields = rpcs
  .flatMap((rpc) =>
    idFieldsOf(rpc.rpc.input)
      .filter(({ way }) => rpc.caller !== "service" || way[0]?.name !== ofOperator)
      .map((field) => [field.name, rpc.path, rpc, field] as const),
  )
  .map((row, turn) => [...row, turn] as const);

type Send = Probe["send"];

/** Every way to send a request of the rpc that has this field, as this account. */
function waysTo({ path, rpc, caller }: RpcFacts, { way }: IdField, as: Client): Readonly<Record<string, Send>> {
  const inside = async (request: Fields, headers = {}): Promise<string> => {
    const { status, text } = await service().internalCall(path, request, headers);
    return `${status} ${text}`;
  };
  if (rpc.methodKind !== "unary") return { stream: (request) => imported(as, request) };
  if (caller === "service") return { inside: (request) => inside({ account_id: as.id, ...request }) };
  const name = named(path);
  const isBeyondRest = way.some((field) => getOption(field, fieldOption).beyondRest);
  const serving = wires.filter((wire) => wire.serves(name) && !(isBeyondRest && wire.name === "rest"));
  return {
    ...Object.fromEntries(
      serving.map((wire): [string, Send] => [
        wire.name,
        async (request) => JSON.stringify(await wire.call({ rpc: name, key: as.key, request })),
      ]),
    ),
    inside: (request) => inside(request, { "records-account-id": as.id }),
  };
}

async function imported({ id: accountId }: Client, { records = [] }: Fields): Promise<string> {
  const responses = await importAll(service(), { accountId, records: records as RecordJson[] });
  return JSON.stringify(
    responses.flatMap(({ rejections }) => rejections.map(({ id, error }) => [id, error?.reason, error?.message])),
  );
}

test.each(fields)(
  "%s of %s with another account's id shows nothing of it, and responds as to an unknown id [ISO-01, ISO-02, ISO-03, ISO-04, ISO-05, ISO-08]",
  async (name, _path, rpc, field, turn) => {
    const { input } = rpc.rpc;
    const alike = exceptions[name] === undefined;
    const as = alike ? owner : maker;
    const request = requestTo(rpc, own as Ids & Named);
    const probe = {
      requests: (id: string) => variantsOf(request, input, field.way).map((one) => withId(one, field.way, id, samples)),
      // A write may delete them.
      own: () => (rpc.writes ? recordsOf(as, "foxglove") : Promise.resolve(own)),
      foreign,
      marks: [mark],
      stored,
      alike,
    };
    const ways = share(Object.entries(waysTo(rpc, field, as)), 1, turn);
    const flaws = await Promise.all(ways.map(async ([way, send]) => [way, await flawsOf({ ...probe, send })]));
    expect(flaws).toEqual(ways.map(([way]) => [way, []]));
  },
);

test("the test covers every operation that names a record, and every exception is a field", () => {
  const names = fields.map(([name]) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      ...["GetContactRequest.contact_id", "UpdateContactRequest.contact_id", "ListSessionsRequest.contact_id"],
      ...["SearchNotesRequest.session_id", "SearchTranscriptsRequest.contact_id"],
      ...["ArchiveContactsRequest.contact_ids", "DeleteRecordsRequest.note_ids", "TranscriptItem.session_id"],
    ]),
  );
  expect(Object.keys(exceptions).filter((name) => !names.includes(name))).toEqual([]);
});
