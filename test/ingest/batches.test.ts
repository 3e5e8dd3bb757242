// The batches of an import: small enough for MongoDB to index in time, whatever the script of the texts.
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { createBatches } from "../../src/ingest/batches.ts";
import { noteTerms } from "../../src/notes/store.ts";

const latin = "the quick brown fox jumps over a lazy dog near the old river bank ";
const han = Array.from({ length: 2_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join("");

/** A note of 2,500 characters whose words are those of the text, in another order for each note. */
function noteOf(text: string, number: number): string {
  const letters = [...text];
  return Array.from({ length: 2_500 }, (_, at) => letters[(at * (number + 1) + (at >> 3)) % letters.length]).join("");
}

test.each([
  ["with blanks", latin],
  ["without blanks", han],
])("a batch of notes in a script %s has at most 300,000 search terms [ING-06]", (_script, text) => {
  const batches = createBatches(() => "");
  const terms: number[] = [];
  for (let number = 0; number < 400; number++) {
    const content = noteOf(text, number);
    const value = { id: `${number}`, content } as const;
    const record = create(RecordSchema, { record: { case: "contactNote", value } });
    for (const { items } of batches.add(record, number)) terms.push(count(items as { content: string }[]));
  }
  expect(terms.length).toBeGreaterThan(0);
  expect(Math.max(...terms)).toBeLessThanOrEqual(300_000);
});

function count(items: readonly { content: string }[]): number {
  return items.reduce((sum, { content }) => sum + noteTerms({ content } as never).searchTerms.length, 0);
}
