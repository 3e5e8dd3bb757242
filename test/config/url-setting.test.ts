// The settings that are web addresses: what is taken as it is written, and what stops the start with a line about it.
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { rejection } from "../support/rejected-settings.ts";

const oidc = {
  OIDC_ISSUER: "https://id.example.com",
  OIDC_CLIENT_ID: "records",
  OIDC_CLIENT_SECRET: "of-the-client",
  SERVICE_TOKENS: "a-service-token-of-32-characters-or-more",
  SESSION_SECRET: "a-session-secret-of-32-characters-or-more",
};

test.each(["BASE_URL", "MCP_URL", "OIDC_ISSUER", "OTEL_EXPORTER_OTLP_ENDPOINT"])(
  "%s stops the start if a URL parser would repair it, or drop a part [OPS-14]",
  (name) => {
    for (const [url, problem] of [
      ["https:records.example.com", /begins with http:\/\//],
      ["http:/localhost", /begins with http:\/\//],
      ["https:///records.example.com", /begins with http:\/\//],
      [" https://records.example.com", /begins with http:\/\//],
      ["https://records.example.com ", /remove blanks/],
      ["https://records.example.com\n", /remove blanks/],
      ["https://records.exa\tmple.com", /remove blanks/],
      ["https://records.example.com\\path", /remove blanks/],
      ['https://records.example.com/"', /percent-encode/],
      ["https://records.example.com?tenant=1", /query or a fragment/],
      ["https://records.example.com/path#top", /query or a fragment/],
      ["https://user:hunter2@records.example.com", /user or a password/],
      ["https://@records.example.com", /user or a password/],
      ["https://records.example.com:99999", /valid host and port/],
      ["https://[records]", /valid host and port/],
    ] as const) {
      const message = rejection({ ...oidc, [name]: url });
      expect(message.startsWith(`${name}: `), message).toBe(true);
      expect(message, url).toMatch(problem);
      expect(message).not.toMatch(/hunter2|\n/);
    }
  },
);

test.each([
  ["https://records.example.com/api//", "https://records.example.com/api"],
  ["http://[::1]:8080", "http://[::1]:8080"],
  ["https://records.example.com/a@b", "https://records.example.com/a@b"],
])("accepts the address %s", (url, base) => {
  expect(readConfig({ ...oidc, BASE_URL: url, MCP_URL: url })).toMatchObject({ baseUrl: base, mcpUrl: url });
});

test("the collector's address is the part before /v1/traces, which is appended [OPS-14]", () => {
  const urlOf = (url: string) => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url }).tracing?.url;
  expect(urlOf("http://collector:4318/")).toBe("http://collector:4318/v1/traces");
  expect(urlOf("https://collector.example/otlp")).toBe("https://collector.example/otlp/v1/traces");
  for (const url of ["http://collector:4318/v1/traces", "http://collector:4318/v1/traces/"])
    expect(rejection({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).toBe(
      "OTEL_EXPORTER_OTLP_ENDPOINT: must not end with /v1/traces, which the service appends: remove it",
    );
});
