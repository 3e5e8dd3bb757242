// The service finds what the contract says, for random queries over invented names, titles and notes of many languages
// (contract §3).
import { expect, test, vi } from "vitest";
import { primaryOf } from "../../src/db/primary.ts";
import { newClient, useService } from "../support/client.ts";
import { inForm } from "../support/form.ts";
import { createRandom, inventedContact, inventedName, inventedQuery, inventedText } from "./invented.ts";
import { compare, fillWith } from "./comparison.ts";

vi.setConfig({ testTimeout: 1_800_000 });

const service = useService();

const sizes = [
  ["a small account", 40],
  ["a large one", inForm(200, 400)],
  ["a larger one", 1_500],
] as const;

test.each(sizes.slice(0, inForm(2, 3)))(
  "every query over %s finds the matches of the contract in its order [SRC-01, SRC-04, SRC-05, CSR-08, CSR-11, NOT-15]",
  async (_name, size) => {
    const random = createRandom(size);
    const client = await newClient(service());
    const filled = await fillWith(client, {
      contacts: Array.from({ length: size }, (_, at) => inventedContact(random, at)),
      titles: Array.from({ length: size }, () => inventedText(random)),
      notes: Array.from({ length: size }, () => inventedText(random)),
      clientName: inventedName(random),
    });
    const differences: string[] = [];
    for (let at = 0; at < inForm(30, 1_700); at += 1) {
      await primaryOf(service().app.client).waitUntilHeld(30_000);
      differences.push(...(await compare(client, filled, inventedQuery(random, filled.texts))));
    }
    expect(differences).toEqual([]);
  },
);
