// Secrets in files: NAME_FILE in place of NAME.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findService } from "../../src/cli/where.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { readConfig, withoutSecrets } from "../../src/config/config.ts";

const folder = mkdtempSync(join(tmpdir(), "records-secrets-"));
const token = "a-service-token-of-32-characters-or-more";
const secret = "a-session-secret-of-32-characters-or-more";
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function rejection(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  return "";
}

test("every secret can be in a file, with or without a final line break [OPS-40]", () => {
  const config = readConfig({
    MONGODB_URI_FILE: fileOf("mongodb", "mongodb://records:of-the-database@db.example/records\n"),
    REDIS_URL_FILE: fileOf("redis", "redis://:of-the-cache@cache.example:6379\r\n"),
    SERVICE_TOKENS_FILE: fileOf("tokens", `${token},${token}2`),
    SESSION_SECRET_FILE: fileOf("session", `${secret}\n`),
    OIDC_ISSUER: "https://id.example.com",
    OIDC_CLIENT_ID: "records",
    OIDC_CLIENT_SECRET_FILE: fileOf("client", "of-the-client\n"),
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example:4318",
    OTEL_EXPORTER_OTLP_HEADERS_FILE: fileOf("headers", "api-key=of-the-collector\n"),
  });
  expect([config.mongodbUri, config.redisUrl]).toEqual([
    "mongodb://records:of-the-database@db.example/records",
    "redis://:of-the-cache@cache.example:6379",
  ]);
  expect([config.serviceTokens, config.sessionSecrets]).toEqual([[token, `${token}2`], [secret]]);
  expect([config.oidc?.clientSecret, config.tracing?.headers]).toEqual([
    "of-the-client",
    { "api-key": "of-the-collector" },
  ]);
});

test("an unreadable or empty file, and two variables for one setting, are named, and no content is shown [OPS-40]", () => {
  const missing = join(folder, "missing");
  expect(rejection({ MONGODB_URI_FILE: missing })).toBe(`MONGODB_URI_FILE: ${missing} cannot be read (ENOENT)`);
  // The secret itself, put into the wrong variable.
  expect(rejection({ MONGODB_URI_FILE: "mongodb://ops:hunter2@db1/records" })).toBe(
    "MONGODB_URI_FILE: the file cannot be read (ENOENT)",
  );
  const empty = fileOf("empty", "\n");
  expect(rejection({ SESSION_SECRET_FILE: empty })).toBe(`SESSION_SECRET_FILE: ${empty} is empty`);
  expect(rejection({ SESSION_SECRET_FILE: "/dev/zero" })).toBe(
    "SESSION_SECRET_FILE: /dev/zero is longer than 65536 bytes",
  );
  const both = rejection({ SERVICE_TOKENS: token, SERVICE_TOKENS_FILE: fileOf("other", `${token}3`) });
  expect(both).toBe("SERVICE_TOKENS_FILE: cannot be set together with SERVICE_TOKENS: set one of them");
  const short = rejection({ SESSION_SECRET_FILE: fileOf("short", "too-short") });
  expect(short).toMatch(/^SESSION_SECRET: must be a random secret of at least 32 characters/);
  expect(short).not.toContain("too-short");
});

test("the command line finds its token in a file too, and child processes get neither variable [OPS-40]", () => {
  const SERVICE_TOKENS_FILE = fileOf("for-the-line", `${token}\n`);
  expect(findService({ url: "http://127.0.0.1:9" }, { SERVICE_TOKENS_FILE, DATA_DIR: folder }).token).toBe(token);
  expect(withoutSecrets({ SERVICE_TOKENS_FILE, MONGODB_URI: "mongodb://db.example", PATH: "/bin" })).toEqual({
    PATH: "/bin",
  });
});
