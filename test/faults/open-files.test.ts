// Tests an instance that reaches its limit of open files.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { createDatabase } from "../fixtures/databases/database.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";
import { runDoctor } from "../../src/cli/doctor/doctor.ts";
import { startChild } from "../fixtures/service/child.ts";
import { rest, startService } from "../fixtures/service/service.ts";

vi.setConfig({ testTimeout: 60_000 });

test("readiness, metrics and one log line report that the limit of open files is reached [OPS-10]", async () => {
  const database = await createDatabase(inject("administratorUri"));
  const redis = await startOwnRedis();
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const child = await startChild(database.uri, redis.uri, { LOG_LEVEL: "info" }, (line) =>
    lines.push(JSON.parse(line) as (typeof lines)[number]),
  );
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await child.kill();
    await redis.stop();
    await database.drop();
  });
  const internal = `http://127.0.0.1:${child.internalPort}`;
  const readiness = () => rest(internal, "/readyz");
  const saidOf = (text: string) => lines.filter(({ msg }) => msg.includes(text));
  expect((await readiness()).status).toBe(200);

  const limit = readdirSync(`/proc/${child.pid}/fd`).length + 4;
  execFileSync("prlimit", ["--pid", String(child.pid), `--nofile=${limit}:`]);
  for (let count = 0; count < 20; count++)
    sockets.push(connect(Number(new URL(child.base).port), "127.0.0.1").on("error", () => undefined));
  // Uses the connection that is already open.
  await expect
    .poll(async () => (await readiness()).body, { timeout: 20_000 })
    .toMatchObject({
      status: "unavailable",
      reason: "the limit of open files is reached",
    });
  expect((await rest(internal, "/metrics")).text).toMatch(/^records_open_files_left 0$/m);
  expect(saidOf("the limit of open files is reached").map(({ level }) => level)).toEqual([50]);

  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await readiness()).status, { timeout: 20_000 }).toBe(200);
  expect(saidOf("files and connections can be opened again")).toHaveLength(1);
});

test("the startup log and the doctor report a low limit of open files and how to fix it [OPS-10]", async () => {
  const report = vi.spyOn(process.report, "getReport").mockReturnValue({ userLimits: { open_files: { soft: 1024 } } });
  onTestFinished(() => report.mockRestore());
  const service = await startService();
  const { logLines } = service;
  await service.stop();
  expect(logLines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({
      level: 40,
      limit: 1024,
      msg: "the limit of open files is low: connections are closed beyond it. Raise it to 10500 or more (ulimit -n, or LimitNOFILE of systemd), and restart.",
    }),
  );
  const findings = await runDoctor({});
  expect(findings.find(({ check }) => check === "configuration.open_files")).toEqual({
    check: "configuration.open_files",
    status: "warning",
    message: "The limit of open files is 1024: connections beyond it are closed.",
    fix: "Raise it to 10500 or more (ulimit -n, or LimitNOFILE of systemd), and restart.",
  });
});
