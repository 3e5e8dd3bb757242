// Controls of the tests that put another account's ids into every field: each kind of leak is seen, and each new field.
import type { DescMessage } from "@bufbuild/protobuf";
import { create, setExtension } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import type { Fields } from "../fixtures/clients/wires.ts";
import { FieldRulesSchema, field as fieldRules } from "../../src/gen/buf/validate/validate_pb.ts";
import { SearchNotesRequestSchema } from "../../src/gen/records/v1/notes_pb.ts";
import { SearchTranscriptsRequestSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import { madeUp } from "../support/made-up.ts";
import { flawsOf } from "./foreign-ids.ts";
import { idFieldsOf, samplesOf, withId, variantsOf } from "./id-fields.ts";

const own = "11111111-1111-4111-8111-111111111111";
const foreign = { session: "22222222-2222-4222-8222-222222222222", note: "33333333-3333-4333-8333-333333333333" };
const notFound = "404 There is no such record";

/** A service with a session of its own and one of another account; `fake` is its response to an id. */
type Fake = (id: string) => string;
const holds: Fake = (id) => (id === own ? `200 {"id":"${id}","title":"Mine"}` : notFound);

function flaws(fake: Fake, { stored = "", alike = true } = {}): Promise<string[]> {
  const log = [stored];
  return flawsOf({
    send: ({ session_id: id }) => {
      if (stored !== "" && id === foreign.session) log.push("deleted");
      return Promise.resolve(fake(String(id)));
    },
    requests: (id) => [{ session_id: id }],
    own: () => Promise.resolve({ session: own }),
    foreign,
    marks: ["marigold"],
    stored: () => Promise.resolve(log.join()),
    alike,
  });
}

test("finds no flaw in a service that reads only its own account [ISO-01, ISO-04]", async () => {
  expect(await flaws(holds)).toEqual([]);
});

test.each([
  ["shows the record", (id: string) => (id === foreign.session ? '200 {"title":"marigold"}' : holds(id)), "marigold"],
  ["shows an id of another record", (id: string) => (id === foreign.session ? foreign.note : holds(id)), foreign.note],
  ["is 403 and not 404", (id: string) => (id === foreign.session ? "403" : holds(id)), "differs from an unknown one"],
  [
    "finds nothing, and returns another message",
    (id: string) => (id === foreign.note ? "404" : holds(id)),
    "note differs",
  ],
  ["ignores the field", () => "200 []", "not put to the test"],
  ["rejects every request", () => "422", "not put to the test"],
] as const)("detects a service that %s [ISO-01, ISO-04]", async (_what, fake, said) => {
  expect((await flaws(fake)).join("\n")).toContain(said);
});

test("detects a service that silently deletes another account's record [ISO-02]", async () => {
  expect(await flaws(holds, { stored: "records" })).toEqual(["what another account has was changed"]);
});

test("if an id may change the response, what the response shows still counts [ISO-08]", async () => {
  const rejects: Fake = (id) => (id === foreign.session ? "409" : `200 ${id}`);
  expect(await flaws(rejects, { alike: false })).toEqual([]);
  const shows: Fake = (id) => (id === foreign.session ? "409 marigold" : `200 ${id}`);
  expect(await flaws(shows, { alike: false })).toEqual(["the id of another's session shows marigold"]);
});

/** Options of a field whose rules say that it, or each of its items, is a UUID. */
function uuidOptions(isList: boolean) {
  const options = create(FieldOptionsSchema);
  const ofUuid = { case: "string", value: { wellKnown: { case: "uuid", value: true } } } as const;
  const type = isList ? ({ case: "repeated", value: { items: { type: ofUuid } } } as const) : ofUuid;
  setExtension(options, fieldRules, create(FieldRulesSchema, { type }));
  return options;
}

test("tests a new field with the UUID rule, repeated or in a nested message too, and one whose name is that of an id", () => {
  const [LABEL_OPTIONAL, LABEL_REPEATED] = [Label.OPTIONAL, Label.REPEATED];
  const text = { type: Type.STRING, label: LABEL_OPTIONAL };
  const typeName = ".records.v1.Friend";
  const service = madeUp("records.v1.MadeUpService", "MakeUp", [
    {
      name: "MakeUpRequest",
      field: [
        { ...text, number: 1, name: "buddy", jsonName: "buddy", options: uuidOptions(false) },
        { ...text, number: 2, name: "buddies", jsonName: "buddies", label: LABEL_REPEATED, options: uuidOptions(true) },
        { number: 3, name: "friends", jsonName: "friends", type: Type.MESSAGE, label: LABEL_REPEATED, typeName },
        { ...text, number: 4, name: "note_ids", jsonName: "noteIds", label: LABEL_REPEATED },
        { ...text, number: 5, name: "external_id", jsonName: "externalId" },
        { ...text, number: 6, name: "content", jsonName: "content" },
      ],
    },
    { name: "Friend", field: [{ ...text, number: 1, name: "pal", jsonName: "pal", options: uuidOptions(false) }] },
  ]);
  const input = service.methods[0]?.input ?? SearchTranscriptsRequestSchema;
  const base: Fields = { content: "c", friends: [{ name: "Bo" }] };
  const samples = samplesOf([[input, base]]);
  expect(idFieldsOf(input).map(({ name, way }) => [name, withId({ content: "c" }, way, own, samples)])).toEqual([
    ["MakeUpRequest.buddy", { content: "c", buddy: own }],
    ["MakeUpRequest.buddies", { content: "c", buddies: [own] }],
    ["Friend.pal", { content: "c", friends: [{ name: "Bo", pal: own }] }],
    ["MakeUpRequest.note_ids", { content: "c", note_ids: [own] }],
  ]);
});

test("tests ids that exclude each other one by one, and each choice of a request", () => {
  const variants = (message: DescMessage, name: string, request: Fields): Fields[] => {
    const way = idFieldsOf(message).find((field) => field.name.endsWith(name))?.way ?? [];
    return variantsOf(request, message, way).map((one) => withId(one, way, own, new Map()));
  };
  expect(variants(SearchTranscriptsRequestSchema, "contact_id", { query: "q", session_id: own })).toEqual([
    { query: "q", contact_id: own },
    { query: "q", session_id: own, contact_id: own },
  ]);
  expect(variants(SearchNotesRequestSchema, "session_id", { query: "q" })).toEqual([
    { query: "q", session_id: own },
    { query: "q", session_id: own, kind: "NOTE_KIND_CONTACT" },
    { query: "q", session_id: own, kind: "NOTE_KIND_SESSION" },
    { query: "q", session_id: own, any_word: true },
    { query: "q", session_id: own, with_context: true },
    ...["USER_MANUAL", "AI_MEETING_PREP", "USER_TEMPLATE", "AI_PREDEFINED", "AI_ASSISTANT", "READER_COMMENT"].map(
      (type) => ({ query: "q", session_id: own, note_type: `SESSION_NOTE_TYPE_${type}` }),
    ),
    { query: "q", session_id: own, with_snippet: true },
  ]);
});
