// Checks the gzip that is put together around a stored text against zlib's own reading of it.
import { crc32, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { combineCrc32, gzipAround, renderGzip, renderInflated } from "../../src/http/gzip.ts";
import { deflateText, findDeflated, defineDeflatedField } from "../../src/large/deflated.ts";
import { GetContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { GetSessionTranscriptResponseSchema } from "../../src/gen/records/v1/sessions_pb.ts";

test("computes the CRC of two texts in a row from the CRC of each", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 5_000 }), (first, second) => {
      const both = crc32(Buffer.concat([first, second]));
      expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(both);
    }),
  );
});

test("zlib reads the prefix, the text and the suffix as one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ maxLength: 200 }),
      fc.string({ unit: "binary", maxLength: 5_000 }),
      fc.string({ maxLength: 200 }),
      async (before, text, after) => {
        const gzipped = Buffer.concat(gzipAround(Buffer.from(before), await deflateText(text), Buffer.from(after)));
        expect(gunzipSync(gzipped).toString()).toBe(before + JSON.stringify(text) + after);
      },
    ),
  );
});

test("assembles a megabyte of speech without inflating it, and it is inflated unchanged", async () => {
  const text = "[00:00:12] Ann: we should look at the budget again.\n".repeat(20_000);
  const gzipped = Buffer.concat(gzipAround(Buffer.from('{"a":'), await deflateText(text), Buffer.from("}")));
  expect(gzipped.length).toBeLessThan(text.length / 5);
  expect(JSON.parse(gunzipSync(gzipped).toString())).toEqual({ a: text });
});

test("a damaged text is detected by its CRC", async () => {
  const deflated = await deflateText("whole");
  const gzipped = Buffer.concat(gzipAround(Buffer.from("{"), { ...deflated, crc: deflated.crc ^ 1 }, Buffer.from("}")));
  expect(() => gunzipSync(gzipped)).toThrow(/incorrect data check/);
});

test("inflates a held text unchanged when it is read", async () => {
  const message = defineDeflatedField({ transcript: "" }, "transcript", await deflateText("Zoë\u0000 \u{1F600}"));
  expect(Object.keys(message)).toEqual(["transcript"]);
  expect(message.transcript).toBe("Zoë\u0000 \u{1F600}");
  expect(message.transcript).toBe("Zoë\u0000 \u{1F600}");
});

test("writes a response around its deflated text, without inflating the text", async () => {
  const deflated = await deflateText("Zoë: hello");
  const transcript = defineDeflatedField(
    { ...create(GetSessionTranscriptResponseSchema, { transcript: { sessionId: "" } }).transcript! },
    "transcript",
    deflated,
  );
  const response = { ...create(GetSessionTranscriptResponseSchema), transcript };
  expect(findDeflated(response)).toEqual({
    name: "transcript",
    holder: transcript,
    field: "transcript",
    text: deflated,
  });
  const gzipped = renderGzip(response, ({ $typeName, ...rest }) => JSON.stringify({ $typeName, data: rest }));
  expect(Object.getOwnPropertyDescriptor(transcript, "transcript")).toHaveProperty("get");
  const { $typeName, transcript: plain } = JSON.parse(JSON.stringify(response)) as Record<string, unknown>;
  expect(JSON.parse(gunzipSync(Buffer.concat(gzipped!)).toString())).toEqual({
    $typeName,
    data: { transcript: plain },
  });
});

test("does not write a response without a deflated text", () => {
  for (const response of [
    create(GetContactResponseSchema),
    create(GetContactResponseSchema, { contact: { fullName: "Ann" } }),
  ]) {
    expect(findDeflated(response)).toBeUndefined();
    expect(renderGzip(response, () => "")).toBeUndefined();
  }
});

test("returns the same body without gzip if a client does not accept gzip, and does not inflate the message", async () => {
  const deflated = await deflateText("Zoë: hello");
  const transcript = defineDeflatedField({ sessionId: "s", transcript: "" }, "transcript", deflated);
  const message = { ...create(GetSessionTranscriptResponseSchema), transcript };
  const render = (given: object): string => JSON.stringify(given);
  const plain = Buffer.concat((await renderInflated(message, render))!).toString();
  expect(Object.getOwnPropertyDescriptor(transcript, "transcript")).toHaveProperty("get");
  expect(plain).toBe(gunzipSync(Buffer.concat(renderGzip(message, render)!)).toString());
  expect(JSON.parse(plain)).toEqual(JSON.parse(JSON.stringify(message)));
});

test("does not render a message without a deflated text in pieces", async () => {
  expect(await renderInflated(create(GetContactResponseSchema), () => "")).toBeUndefined();
});

test("accepts at most 65,535 bytes around a text", async () => {
  const text = await deflateText("x");
  const around = "y".repeat(65_535);
  expect(gunzipSync(Buffer.concat(gzipAround(Buffer.from(around), text, Buffer.from(around)))).toString()).toBe(
    `${around}"x"${around}`,
  );
  expect(() => gzipAround(Buffer.from(`${around}y`), text, Buffer.alloc(0))).toThrow(
    "a stored block has at most 65,535 bytes",
  );
});
