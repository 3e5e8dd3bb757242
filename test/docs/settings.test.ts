// The table of settings against the code that reads them: every variable, and every default that has a value.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig, secretSettings } from "../../src/config/config.ts";
import { readPage, root } from "./pages.ts";

const page = readPage("docs/settings.md").prose;
const rows = [...page.matchAll(/^\| `([A-Z0-9_]+)` \| .* \| (.*) \|$/gm)].map(
  ([, name = "", shown = ""]) => [name, shown] as const,
);
const defaults = new Map(rows);

test("the table has every variable that is read, once, and no other", () => {
  const source = readFileSync(join(root, "src/config/config.ts"), "utf8");
  const read = [...source.matchAll(/(?:env|required)\("([A-Z0-9_]+)"\)/g)].map(([, name = ""]) => name);
  expect(read.length).toBeGreaterThan(25);
  expect(rows.map(([name]) => name).sort()).toEqual(
    [...new Set(read)].filter((name) => name !== "XDG_CACHE_HOME").sort(),
  );
});

test("the defaults in the table are those of the code", () => {
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" });
  const own = {
    PORT: config.port,
    HOST: config.host,
    INTERNAL_PORT: config.internalPort,
    INTERNAL_HOST: config.internalHost,
    RATE_LIMIT: config.rateLimit,
    RATE_BURST: config.rateBurst,
    MAX_IN_FLIGHT: config.maxInFlight,
    TRUST_PROXY: config.trustProxy,
    AUDIT_RETENTION_DAYS: config.auditRetentionDays,
    DOC_PROVIDER: config.documentProvider,
    LOG_LEVEL: config.logLevel,
    LOG_ADDRESSES: config.logAddresses,
    OTEL_SERVICE_NAME: config.tracing?.serviceName,
    OTEL_TRACES_SAMPLER_ARG: config.tracing?.ratio,
  };
  for (const [name, value] of Object.entries(own)) expect([name, defaults.get(name)]).toEqual([name, String(value)]);
});

test("the page lists the secrets that a file can provide", () => {
  const section = /## Secrets from files\n\n(.*)/.exec(page)?.[1] ?? "";
  for (const name of secretSettings) expect(section).toContain(`\`${name}\``);
});
