// What the guide names exists: metrics, reasons, audit events, and commands as the command line parses them.
import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { Command, CommanderError } from "commander";
import { beforeAll, expect, test } from "vitest";
import type { Context } from "../../src/cli/context.ts";
import { describe } from "../../src/cli/program.ts";
import { until } from "../../src/embedded/wait.ts";
import { failures } from "../../src/call/errors.ts";
import { AuditEventSchema } from "../../src/gen/records/v1/audit_pb.ts";
import { ReasonSchema } from "../../src/gen/records/v1/errors_pb.ts";
import { routes } from "../../src/gen/rest.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { useService } from "../support/client.ts";
import { codeOf, guide, readPage, shownIn } from "./pages.ts";

const events = AuditEventSchema.values.map(({ name }) => name.replace("AUDIT_EVENT_", "").toLowerCase());
function screaming(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

const service = useService({ RATE_LIMIT: "1", RATE_BURST: "3" });
let metrics: string;

beforeAll(async () => {
  const { key } = await service().account();
  const headers = { "Idempotency-Key": randomUUID() };
  for (let count = 0; count < 6; count++)
    await service().rest("/v1/contacts", { key, body: { full_name: "Ann Lee" }, headers });
  await exchange(service().base, "GET /v1 HTTP/9.9\r\nHost: localhost\r\n\r\n");
  await service()
    .app.client.db()
    .command({ getLog: "global" })
    .catch(() => undefined);
  const read = async (): Promise<string> => (await fetch(`${service().internal}/metrics`)).text();
  // A request is counted when its response is out.
  await until(async () => /^records_throttled_total\{/m.test((metrics = await read())), AbortSignal.timeout(20_000));
});

test("the table of reasons has every reason of the service, with its status and its code", () => {
  const rows = [
    ...readPage("docs/errors.md").prose.matchAll(/^\| ([A-Z_]+) \| (\d+) \| ([A-Z_]+) \| [^|]+ \| [^|]+ \|$/gm),
  ].map(([, reason, http, code]) => [reason, Number(http), code]);
  const own = ReasonSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name, number }) => [
      name.replace("REASON_", ""),
      failures[number as 1].http,
      screaming(Code[failures[number as 1].code] ?? ""),
    ]);
  expect(rows).toEqual(own);
});

test("the table of arguments beyond REST has every one of them", () => {
  const rows = [...readPage("docs/mcp.md").prose.matchAll(/^\| `\w+`, `([A-Z]\w+)` \| (.+) \|$/gm)].map(
    ([, rpc = "", names = ""]) => [rpc, [...names.replace(/\(.*?\)/g, "").matchAll(/\w+/g)].map(String).sort()],
  );
  const own = routes.flatMap(({ rpc, ...route }) =>
    "beyond" in route ? [[rpc.name, route.beyond.fields.map(({ name }) => name).sort()]] : [],
  );
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(own));
});

test("the table of the audit log has every event that a release writes", () => {
  const [, section = ""] = /^## Audit log$([\s\S]*?)^## /m.exec(readPage("docs/production.md").prose) ?? [];
  const rows = [...section.matchAll(/^\| `(\w+)` \| .+ \|$/gm)].map(([, event]) => event);
  expect(events).toEqual(expect.arrayContaining(["unspecified", "other"]));
  expect(rows.sort()).toEqual(events.filter((event) => event !== "unspecified" && event !== "other").sort());
});

test("the table of metrics has every metric of an instance, with its kind and its labels", () => {
  const served = new Map(
    [...metrics.matchAll(/^# TYPE (records_\w+) (\w+)$/gm)].map(([, name = "", kind = ""]) => [name, kind]),
  );
  const rows = [
    ...readPage("docs/observability.md").prose.matchAll(/^\| `(records_\w+)` \| (\w+) \|\s*([^|]*?)\s*\|/gm),
  ].map(([, name = "", kind = "", labels = ""]) => ({ name, kind, labels }));
  expect(new Map(rows.map(({ name, kind }) => [name, kind]))).toEqual(served);
  let before = "";
  for (const { name, labels } of rows) {
    const expected = labels === "the same" ? before : labels;
    before = expected;
    const line = new RegExp(`^${name}(?:_count)?(?:\\{([^}]*)\\})? `, "m").exec(metrics);
    expect(line, name).not.toBeNull();
    const own = [...(line?.[1] ?? "").matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
    expect(own.sort(), name).toEqual(
      expected
        .split(", ")
        .filter((label) => label !== "")
        .sort(),
    );
  }
});

test("an instance or Node serves every metric that the guide names", () => {
  const served = new Set([...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
  const named = guide.flatMap(({ text: page }) =>
    [...page.matchAll(/\b((?:records|nodejs|process)_[a-z0-9_]+)\b/g)].map(([, name = ""]) =>
      name.replace(/_(bucket|count|sum)$/, ""),
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  // An event of the audit log begins like a metric.
  expect([...new Set(named)].filter((name) => !served.has(name) && !events.includes(name))).toEqual([]);
});

/** Parses a command as the program does, without running it. Throws the program's error. */
async function readCommand(line: string): Promise<void> {
  const program = new Command("records");
  describe(program, {} as Context, () => undefined, {});
  const quiet = (command: Command): void => {
    command
      .configureOutput({ writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined })
      .exitOverride();
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(quiet);
  };
  quiet(program);
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, one, other, bare]) => one ?? other ?? bare ?? "",
  );
  await program.parseAsync(words, { from: "user" });
}

/** The page of commands shows how they are used in the program's own notation, from which it is generated. */
const written = guide.filter(({ path }) => path !== "docs/commands.md");
const commands = [...written, readPage("README.md")].flatMap((page) => {
  const shown = page.blocks
    .filter(({ language }) => language === "console")
    .flatMap(shownIn)
    .map(({ command }) => command);
  const scripts = page.blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const code = codeOf(page).filter((text) => /^records [a-z]/.test(text));
  return [...shown, ...scripts, ...code].flatMap((text) =>
    [
      ...text
        .replaceAll(/<[a-z=]+>|…|\$\([^)]*\)/g, "something")
        .matchAll(/(?:^|[|&;]\s*|npx |bin\/)records(?:\.js)? ([^|;&>\n]*?)(?=\s*(?:[|;&\n]|\d?>|$))/gm),
    ].map(([, line = ""]) => [page.path, line.trim()] as const),
  );
});

test("the guide shows commands of every kind", () => {
  const kinds = new Set(commands.map(([, line]) => line.replace(/^--json /, "").split(" ")[0]));
  expect(kinds).toEqual(
    new Set([
      "status",
      "account",
      "key",
      "migrate",
      "shard",
      "interface",
      "log-level",
      "import",
      "export",
      "restore",
      "token",
      "doctor",
      "api",
      "version",
      "help",
    ]),
  );
});

/** In prose a command may lack its arguments. */
const incomplete = new Set(["commander.missingArgument", "commander.missingMandatoryOptionValue"]);

test.each(commands)("%s: the command line accepts: records %s", async (_path, line) => {
  const error = await readCommand(line).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CommanderError && /^[a-z]+( [a-z-]+)?$/.test(line) && incomplete.has(error.code)) return;
  expect(error).toBeUndefined();
});
