// What the doctor says of the configuration, of clocks that disagree, and where nothing runs; and the command itself.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClocks } from "../../../src/cli/doctor/clocks.ts";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import type { Program } from "../../fixtures/service/program.ts";
import { startProgram } from "../../fixtures/service/program.ts";
import { faultsAmong, findingOf } from "./set-up.ts";

const root = join(import.meta.dirname, "../../..");

/** The command as people call it: exit code and output. */
async function records(
  environment: Record<string, string>,
  ...words: string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [join(root, "bin/records.js"), ...words], {
    env: { PATH, HOME, ...environment },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}

describe("the configuration", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "records-doctor-"));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  test.each(["null", "7", '{"base_url":7,"internal_url":[],"service_token":{}}', '{"base_url":'])(
    "is checked as if there were no demo file if that file contains %s [OPS-04]",
    async (text) => {
      const folder = mkdtempSync(join(tmpdir(), "records-doctor-"));
      const environment = { DATA_DIR: folder, PORT: "0", INTERNAL_PORT: "0" };
      const without = await runDoctor(environment);
      writeFileSync(join(folder, "demo.json"), text);
      expect(await runDoctor(environment)).toEqual(without);
      rmSync(folder, { recursive: true });
    },
  );

  test("is reported with every invalid variable, and checks that depend on one are skipped [OPS-04, OPS-14]", async () => {
    const findings = await runDoctor({
      DATA_DIR: dataDir,
      PORT: "0",
      INTERNAL_PORT: "many",
      LOG_LEVEL: "loud",
      MONGODB_URI: "postgres://user:hidden-password@db/",
      V1_SUNSET_AT: "soon",
      RATE_LIMIT: "0",
    });
    expect(
      faultsAmong(findings)
        .map((line) => line.split(" ")[0])
        .sort(),
    ).toEqual([
      "configuration.INTERNAL_PORT:",
      "configuration.LOG_LEVEL:",
      "configuration.MONGODB_URI:",
      "configuration.RATE_LIMIT:",
      "configuration.SERVICE_TOKENS:",
      "configuration.SESSION_SECRET:",
      "configuration.V1_DEPRECATED_AT:",
    ]);
    expect(findingOf(findings, "configuration.LOG_LEVEL")).toMatchObject({
      message: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
    });
    expect(findingOf(findings, "mongodb.reachable").status).toBe("note");
    expect(JSON.stringify(findings)).not.toContain("hidden-password");
  });

  test.each<[string, Record<string, string>, string]>([
    [
      "an https address without TRUST_PROXY",
      { BASE_URL: "https://records.example.invalid" },
      "configuration.TRUST_PROXY",
    ],
    ["a public listener without BASE_URL", { HOST: "0.0.0.0" }, "configuration.BASE_URL"],
    ["http for other machines", { BASE_URL: "http://records.example.invalid" }, "configuration.BASE_URL"],
    ["an open internal listener", { INTERNAL_HOST: "0.0.0.0" }, "configuration.INTERNAL_HOST"],
    [
      "a provider without the audience of its tokens [OAU-23]",
      {
        OIDC_ISSUER: "http://127.0.0.1:9",
        OIDC_CLIENT_ID: "records",
        OIDC_CLIENT_SECRET: "x",
        SERVICE_TOKENS: "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
        SESSION_SECRET: "b1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
      },
      "configuration.MCP_AUDIENCE",
    ],
    ["a variable that nothing reads", { MONGO_URL: "mongodb://127.0.0.1:9/" }, "configuration.MONGO_URL"],
  ])("has a warning for %s [OPS-04]", async (_name, environment, check) => {
    const control = await runDoctor({ DATA_DIR: dataDir, PORT: "0", INTERNAL_PORT: "9" });
    expect(control.filter(({ status }) => status === "warning" || status === "fault")).toEqual([]);
    const findings = await runDoctor({ DATA_DIR: dataDir, PORT: "0", INTERNAL_PORT: "9", ...environment });
    expect(findingOf(findings, check).status).toBe("warning");
  });

  test("is checked without writing to DATA_DIR [OPS-04]", async () => {
    await runDoctor({ DATA_DIR: dataDir, PORT: "0", INTERNAL_PORT: "9" });
    expect(readdirSync(dataDir)).toEqual([]);
  });
});

test("a clock agrees with this machine's within five seconds [OPS-04]", () => {
  const clocks = createClocks(() => 1_000_500);
  for (const ahead of [4_999, -4_999, 5_001, -5_001])
    clocks.read(`clock.${ahead}`, "A clock", 1_000_500 + ahead, 1_000_500);
  expect(clocks.findings().map(({ check, status }) => [check, status])).toEqual([
    ["clock.4999", "ok"],
    ["clock.-4999", "ok"],
    ["clock.5001", "fault"],
    ["clock.-5001", "fault"],
  ]);
});

describe("a service with embedded parts", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "records-doctor-"));
  const environment = { DATA_DIR: dataDir, PORT: "0", INTERNAL_PORT: "0" };
  let program: Program;
  beforeAll(async () => {
    program = await startProgram(dataDir);
  });
  afterAll(async () => {
    await program.end();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("is found by its data folder, and the command ends with 0; an assistant reaches the sign-in page [OPS-04]", async () => {
    const { code, stdout, stderr } = await records(environment, "doctor", "--json", "--register");
    expect([code, stderr]).toEqual([0, ""]);
    const findings = JSON.parse(stdout) as { check: string; status: string; message: string; fix: string | null }[];
    for (const finding of findings) expect(Object.keys(finding)).toEqual(["check", "status", "message", "fix"]);
    const status = (name: string): string | undefined => findings.find(({ check }) => check === name)?.status;
    expect(
      [
        "mongodb.reachable",
        "mongodb.indexes",
        "redis.reachable",
        "provider.issuer",
        "service.ready",
        "service.grpc",
        "service.token",
        "mcp.challenge",
        "mcp.registration",
      ].map(status),
    ).toEqual(Array(9).fill("ok"));
    expect(stdout).not.toContain(program.demo().service_token);
  });

  test("shows a user one line if nothing is wrong [OPS-04]", async () => {
    const { code, stdout } = await records(environment, "doctor");
    expect([code, stdout.split("\n").length]).toEqual([0, 2]);
    expect(stdout).toMatch(/^\d+ checks: nothing is wrong(?:, \d+ notes?)?\. --verbose shows every check\.\n$/);
  });

  test("shows a user one line for each check, and the command ends with 1 if one is a fault [OPS-04]", async () => {
    const { code, stdout } = await records(
      { ...environment, LOG_LEVEL: "loud", REDIS_URL: "redis://someone:hidden-password@127.0.0.1:9" },
      "doctor",
      "--verbose",
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}FAULT {4}LOG_LEVEL +LOG_LEVEL must be one of .* → Correct LOG_LEVEL/m);
    expect(stdout).toMatch(
      /^ {2}FAULT {4}reachable +Redis cannot be reached at redis:\/\/127\.0\.0\.1:9: nothing listens there/m,
    );
    expect(stdout).toMatch(/^ {2}ok {7}reachable +mongodb:/m);
    expect(stdout).toMatch(/^\d+ checks: 2 faults/m);
    expect(stdout).not.toContain("hidden-password");
  });
});
