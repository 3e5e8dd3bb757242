// JSON that the library accepts and changes: unary calls and streams reject date-times that do not exist, and bytes
// that are not UTF-8.
import { gzipSync } from "node:zlib";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { counts, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import type { Form } from "./forms.ts";
import { encoding, enveloped, forms, send } from "./forms.ts";
import { expectRejected } from "./rejected.ts";

const service = useService();
let owner: Owner;
beforeAll(async () => void (owner = await newOwner(service())));

test.each([
  "02-30T00:00:00",
  "02-29T09:00:00",
  "04-31T09:00:00",
  "06-31T24:00:00",
  "0\\u0032-30T00:00:00",
  "02\\u002D30T00:00:00",
  "02-30\\u0054\\u0030\\u0030:00:00",
  "01-31T24\\u003a00:00",
])(
  "names the field of a date-time that is not in the calendar, also in gzip and in escapes: 2026-%s [VAL-06, ING-01]",
  async (time) => {
    const headers = { authorization: `Bearer ${service().serviceToken}` };
    const rpc = IngestService.method.upsertSessionNotes;
    const message = Buffer.from(
      `{"account_id":"${owner.id}","notes":[{},{"session_id":"${owner.session}","created_at":"2026-${time}Z"}]}`,
    );
    const violation = "notes[1].created_at: must be a date-time that exists, such as 2026-01-31T09:30:00Z";
    for (const form of forms.filter((one) => one.json)) {
      expect(
        (await send(service().internal, form, rpc, enveloped(form, message), headers)).violations,
        form.name,
      ).toContain(violation);
      const zipped = await send(service().internal, form, rpc, enveloped(form, gzipSync(message), 1), {
        ...headers,
        ...encoding(form, "gzip"),
      });
      expect(zipped.violations, form.name).toContain(violation);
    }
  },
);

test("says how many violations are omitted if there is no room for all [ERR-03, ING-01]", async () => {
  const headers = { authorization: `Bearer ${service().serviceToken}` };
  const notes = Array.from({ length: 100 }, () => ({ created_at: "2026-02-30T00:00:00Z" }));
  const message = Buffer.from(JSON.stringify({ account_id: owner.id, notes }));
  for (const form of forms.filter((one) => one.json)) {
    const { violations } = await send(
      service().internal,
      form,
      IngestService.method.upsertSessionNotes,
      enveloped(form, message),
      headers,
    );
    expect(violations.length, form.name).toBeLessThan(100);
    expect(violations.at(-2), form.name).not.toContain("more)");
    expect(violations.at(-1), form.name).toContain(`Z (and ${100 - violations.length} more)`);
  }
});

test.each([
  [
    "a date-time that is not in the calendar",
    "2026-02-30T10:00:00Z",
    "",
    "records[1].contact_note.created_at: must be a date-time that exists, such as 2026-01-31T09:30:00Z",
  ],
  [
    "the hour 24",
    "2026-01-31T24:00:00Z",
    "",
    "records[1].contact_note.created_at: must be a date-time that exists, such as 2026-01-31T09:30:00Z",
  ],
  [
    "a date-time in escapes",
    "2026-0\\u0032-30T10:00:00Z",
    "",
    "records[1].contact_note.created_at: must be a date-time that exists, such as 2026-01-31T09:30:00Z",
  ],
  ["bytes that are not UTF-8", "2026-01-31T10:00:00Z", "\xff", ": the message must be UTF-8"],
])(
  "rejects an import in JSON with %s as a unary call, and writes nothing [VAL-06, VAL-12, ING-06]",
  async (_what, time, text, violation) => {
    const before = await counts(service());
    const headers = { authorization: `Bearer ${service().serviceToken}` };
    const note = `{"contact_id":"${owner.contact}","content":"a${text}","source":"import","created_at":"${time}"}`;
    const message = `{"account_id":"${owner.id}","records":[{"contact":{"full_name":"Ann"}},{"contact_note":${note}}]}`;
    const form = forms.find(({ protocol, json }) => protocol === "grpc" && json) as Form;
    for (const zip of [false, true]) {
      const bytes = Buffer.from(message, "latin1");
      const body = zip ? enveloped(form, gzipSync(bytes), 1) : enveloped(form, bytes);
      const rpc = IngestService.method.import as unknown as DescMethodUnary;
      const sent = zip ? { ...headers, ...encoding(form, "gzip") } : headers;
      expectRejected(await send(service().internal, form, rpc, body, sent), form, [violation]);
    }
    expect(await counts(service())).toEqual(before);
  },
);
