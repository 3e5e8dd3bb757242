// Runs the cases of ContactService on every wire.
import { ingestInto } from "../fixtures/clients/ingest.ts";
import { runCases } from "../support/run-cases.ts";
import { contactReadCases, fieldMaskCases } from "./contact-reads.cases.ts";
import { contactWriteCases } from "./contact-writes.cases.ts";
import { timelineNoteCases } from "./timeline-notes.cases.ts";

// Reads come first: they expect the original records.
runCases(
  [...contactReadCases, ...fieldMaskCases, ...contactWriteCases, ...timelineNoteCases],
  async (service, { owner }) => {
    await ingestInto(service, owner.id).contact({ full_name: "Zoe Other", email: "other@example.com" });
    await service.rest("/v1/contacts", {
      key: owner.key,
      body: { full_name: "First" },
      headers: { "Idempotency-Key": "used-before" },
    });
  },
);
