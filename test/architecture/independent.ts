// The files of the service that import no other file of ours.

export const independent = [
  "src/instant.ts",
  "src/address.ts",
  "src/text.ts",
  "src/uuid.ts",
  "src/innermost-code.ts",
  "src/tally.ts",
  "src/readable-log.ts",
  "src/log-writer.ts",
  "src/output-errors.ts",
  "src/signals.ts",
  "src/fair-queue.ts",
  "src/time-limit.ts",
  "src/load-once.ts",
  "src/loopback.ts",
  "src/open-files.ts",
  "src/secret-files.ts",
  "src/config-error.ts",
  "src/html.ts",
  "src/root.ts",
  "src/bounded-cache.ts",
];
