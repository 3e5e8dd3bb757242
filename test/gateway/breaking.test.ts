// What was released stays: buf breaking against the released image lets the protos pass, and no break of them (spec
// Versioning 2).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ProtoTree } from "./protos.ts";
import { copyProtos } from "./protos.ts";

const released = join(import.meta.dirname, "../../proto/records.v1.binpb");
const contacts = "proto/records/v1/contacts.proto";
const asItIs = readFileSync(join(import.meta.dirname, "../..", contacts), "utf8");
let tree: ProtoTree;

beforeAll(() => void (tree = copyProtos()));
beforeEach(() => tree.write(contacts, asItIs));
afterAll(() => tree.remove());

test("the protos break nothing that was released [VER-02]", () => {
  expect(tree.buf("breaking", "proto", "--against", released)).toEqual({ ok: true, output: "" });
});

test("an addition breaks nothing [VER-02]", () => {
  tree.replace(
    contacts,
    "  optional string inferred_name = 11;",
    "  optional string inferred_name = 11;\n  optional string nickname = 99;",
  );
  expect(tree.buf("breaking", "proto", "--against", released)).toEqual({ ok: true, output: "" });
});

test.each([
  ["optional string notes = 5;", "optional string note = 5;", 'Field "5"'],
  ["optional string notes = 5;", "", 'Field "5"'],
  ["optional string notes = 5;", "optional int32 notes = 5;", 'Field "5"'],
  ["optional string notes = 5;", "string notes = 5;", 'Field "5"'],
  ["rpc GetContact(", "rpc FetchContact(", 'RPC "GetContact"'],
  ["message AppendContactNoteRequest {", "message AppendNoteRequest {", 'message "AppendContactNoteRequest"'],
])("reports the change %s → %s [VER-02]", (from, to, named) => {
  tree.replace(contacts, from, to);
  if (from.startsWith("message")) tree.replace(contacts, "(AppendContactNoteRequest)", "(AppendNoteRequest)");
  const { ok, output } = tree.buf("breaking", "proto", "--against", released);
  expect(ok).toBe(false);
  expect(output.toLowerCase()).toContain(named.toLowerCase());
});
