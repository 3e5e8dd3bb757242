// promtool finds nothing to complain about: the rules, the example configuration, and the metrics of a running
// instance.
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { root } from "../docs/pages.ts";
import { startService } from "../fixtures/service/service.ts";
import { promtool } from "./promtool.ts";
import { rulesPath } from "./rules.ts";

test("promtool accepts the alert rules and the example configuration", () => {
  const rules = promtool(["check", "rules", rulesPath]);
  expect(rules.output).toMatch(/SUCCESS: \d+ rules found/);
  expect(rules.status).toBe(0);
  const config = promtool(["check", "config", join(root, "deploy/prometheus/prometheus.yaml")]);
  expect(config.status, config.output).toBe(0);
});

test("the lint of metric names accepts the metrics of a running instance", async () => {
  const service = await startService();
  try {
    const { key } = await service.account();
    await service.rest("/v1/contacts", {
      key,
      body: { full_name: "Ann Lee" },
      headers: { "Idempotency-Key": randomUUID() },
    });
    const metrics = await (await fetch(`${service.internal}/metrics`)).text();
    const { status, output } = promtool(["check", "metrics"], metrics);
    // Node's own metrics are named by their library.
    expect(output.split("\n").filter((line) => line.startsWith("records_"))).toEqual([]);
    expect(output.split("\n").filter((line) => line !== "" && !/^(nodejs|process)_/.test(line))).toEqual([]);
    expect([0, 3]).toContain(status);
  } finally {
    await service.stop();
  }
});
