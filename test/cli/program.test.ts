// The `records` program itself: help, status, where it finds the service, and how it says that something is wrong.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { Command } from "commander";
import type { Context } from "../../src/cli/context.ts";
import { examplesOf, pathOf } from "../../src/cli/examples.ts";
import { createLink } from "../../src/cli/link.ts";
import { describe } from "../../src/cli/program.ts";
import { InterfaceService } from "../../src/gen/records/admin/v1/interface_pb.ts";
import { useService } from "../support/client.ts";
import { startTlsServer } from "../support/tls-server.ts";
import { runCommand, cli, cliJson, settingsFor, startCli, useFolder } from "./cli.ts";

// A start of the program takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

test("--help names the commands and the exit codes, and each command has its own help [OPS-04]", async () => {
  const { code, stdout } = await startCli(["--help"]).ended;
  expect(code).toBe(0);
  for (const command of ["status", "account", "key", "interface", "log-level", "import", "export", "token", "doctor"])
    expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
  for (const exitCode of [0, 1, 2, 3, 4, 130]) expect(stdout).toMatch(new RegExp(`^  ${exitCode} +\\S`, "m"));
  const help = await runCommand(["import", "--help"]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("--rejects <file>");
});

test("without a command it prints its help and ends with 0, and no line of any help exceeds 80 columns", async () => {
  const alone = await runCommand([]);
  expect([alone.code, alone.stderr, alone.stdout]).toEqual([0, "", (await runCommand(["--help"])).stdout]);
  const commands = ["account", "account delete", "interface off", "import", "export", "migrate", "doctor", "log-level"];
  for (const command of ["", ...commands]) {
    const { stdout } = await runCommand([...command.split(" ").filter(Boolean), "--help"]);
    expect(stdout.split("\n").filter((line) => [...line].length > 80)).toEqual([]);
  }
});

test("an unknown command suggests the nearest one, a missing one lists all, and both end with 2", async () => {
  const unknown = await startCli(["acount"]).ended;
  expect([unknown.code, unknown.stdout]).toEqual([2, ""]);
  expect(unknown.stderr).toContain("Did you mean account?");
  const missing = await runCommand(["account"]);
  expect([missing.code, missing.stdout]).toEqual([2, ""]);
  expect(missing.stderr).toContain("create");
  expect(JSON.parse((await runCommand(["account", "lst", "--json"])).stderr).error).toMatchObject({
    code: "usage",
    exit_code: 2,
  });
});

test("help shows the help of a nested command, and version the version", async () => {
  const help = await runCommand(["help", "account", "create"]);
  expect([help.code, help.stdout]).toEqual([0, (await runCommand(["account", "create", "--help"])).stdout]);
  expect(help.stdout).toContain("Usage: records account create ");
  const unknown = await runCommand(["help", "account", "crate"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    "records: unknown command 'crate' (see records account --help)\n",
  ]);
  const version = await runCommand(["version"]);
  expect([version.code, version.stdout]).toEqual([0, "1.0.0\n"]);
});

test("the help of every command has an example that the program accepts", async () => {
  const program = new Command("records");
  describe(program, {} as Context, () => undefined, {});
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  const quiet = (command: Command): void => {
    command.exitOverride();
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(quiet);
  };
  const all = leaves(program);
  quiet(program);
  expect(all.length).toBeGreaterThan(25);
  for (const command of all) {
    expect(examplesOf(command), pathOf(command)).not.toEqual([]);
    for (const example of examplesOf(command)) {
      expect(example.length).toBeLessThan(79);
      const words = [...example.replace(/ > .*/, "").matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? "",
      );
      await program.parseAsync(words.slice(1), { from: "user" });
    }
  }
});

test("bash completes commands, options and choices", async () => {
  const { code, stdout } = await runCommand(["completion", "bash"]);
  expect(code).toBe(0);
  const complete = (...words: string[]): string[] => {
    const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _records; printf '%s\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
  };
  expect(complete("records", "acc")).toEqual(["account"]);
  expect(complete("records", "account", "en")).toEqual(["enrol", "end-sessions"]);
  expect(complete("records", "account", "suspend", "ann@example.com", "--r")).toEqual(["--reason"]);
  expect(complete("records", "--json", "interface", "writes", "o")).toEqual(["on", "off"]);
  expect(complete("records", "completion", "z")).toEqual(["zsh"]);
  const [zsh, fish] = await Promise.all(["zsh", "fish"].map((shell) => runCommand(["completion", shell])));
  expect(zsh?.stdout).toMatch(/^#compdef records\n/);
  expect(fish?.stdout).toContain("case ' account suspend'\n      string split -- ' ' '--reason --help'");
});

test("api sends a request with the key, prints the response, and ends as its status says", async () => {
  const { key } = await service().account();
  const environment = { RECORDS_URL: service().base, RECORDS_API_KEY: key };
  const api = (args: string[]) => runCommand(["api", ...args], { environment });
  const create = ["post", "/v1/contacts", "--data", "@-", "--idempotency-key", "a"];
  const created = await startCli(["api", ...create], { environment, input: '{"full_name":"Ann Lee"}' }).ended;
  expect([created.code, created.stderr]).toEqual([0, ""]);
  const { id } = JSON.parse(created.stdout).data as { id: string };
  const found = await api(["GET", "/v1/contacts?query=ann+lee", "--json"]);
  expect(JSON.parse(found.stdout).data).toMatchObject([{ id, full_name: "Ann Lee" }]);
  const again = await api(["POST", "/v1/contacts", "--data", '{"full_name":"Ann Lee"}', "--idempotency-key", "a"]);
  expect(JSON.parse(again.stdout).data.id).toBe(id);
  const missing = await api(["GET", "/v1/contacts/00000000-0000-4000-8000-000000000000"]);
  expect([missing.code, JSON.parse(missing.stdout).error.reason, missing.stderr]).toEqual([
    1,
    "NOT_FOUND",
    "records: 404 There is no such record in this account. Check the id.\n",
  ]);
  const elsewhere = await api(["GET", "//records.invalid/v1/health"]);
  // The key goes to the address only, whatever the path looks like.
  expect([elsewhere.code, JSON.parse(elsewhere.stdout).error.reason]).toEqual([1, "UNKNOWN_PATH"]);
  const without = await runCommand(["api", "GET", "/v1/contacts?query=ann", "--base-url", service().base]);
  expect(without).toMatchObject({
    code: 1,
    stderr: "records: 401 The API key is missing. Set RECORDS_API_KEY or --key-file.\n",
  });
  const withBody = await api(["GET", "/v1/health", "--data", "{}"]);
  expect([withBody.code, withBody.stderr]).toEqual([
    2,
    expect.stringContaining("GET: the method, the key or the body"),
  ]);
  const withOddKey = { RECORDS_URL: service().base, RECORDS_API_KEY: `${key}\nx` };
  const odd = await runCommand(["api", "GET", "/v1/health"], { environment: withOddKey });
  expect([odd.code, odd.stderr.includes(key.slice(0, 12))]).toEqual([2, false]);
  const nothing = await runCommand(["api", "GET", "/v1/health", "--base-url", "http://127.0.0.1:1"]);
  expect([nothing.code, nothing.stdout]).toEqual([3, ""]);
});

test("status reports the version, health, dependencies, switches and accounts, and ends with 1 while the interface is off [OPS-04]", async () => {
  const good = await cliJson(service(), ["status"]);
  expect(good).toMatchObject({
    url: service().internal,
    version: "1.0.0",
    health: "ok",
    ready: true,
    dependencies: { mongodb: true, redis: true },
    switches: { public_interface: { enabled: true } },
    accounts: expect.any(Number),
  });
  expect((await cli(service(), ["status"])).stdout).toMatch(/^health +ok$/m);
  await cliJson(service(), ["interface", "off", "--yes", "--reason", "moving house"]);
  const off = await cli(service(), ["status"]);
  expect(off.code).toBe(1);
  expect(off.stdout).toMatch(/^health +disabled$/m);
  expect(off.stdout).toMatch(/^interface +off since \S+ \(moving house\)$/m);
  await cliJson(service(), ["interface", "on"]);
});

test("log-level shows and sets the level of the log, and rejects an unknown level by name [OPS-27]", async () => {
  expect(await cliJson(service(), ["log-level"])).toMatchObject({ level: "info", configured: "info" });
  expect(await cliJson(service(), ["log-level", "debug"])).toMatchObject({ level: "debug", configured: "info" });
  expect((await cli(service(), ["log-level", "info"])).stdout).toMatch(/^level +info$/m);
  const wrong = await cli(service(), ["log-level", "loud"]);
  expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
  expect(wrong.stderr).toContain("level: ");
});

test("an invalid command line names the command whose --help lists the options", async () => {
  const said = async (...args: string[]): Promise<string> => (await cli(service(), args)).stderr;
  expect(await said("account", "suspend", "x")).toBe(
    "records: required option '--reason <text>' not specified (see records account suspend --help)\n",
  );
  expect(await said("import", "--account", "x")).toBe(
    "records: missing required argument 'file' (see records import --help)\n",
  );
  expect(await said("nope")).toMatch(/^records: unknown command 'nope'.* \(see records --help\)\n$/);
});

test("finds the service by --url and --token-file, by the environment, and by its data folder", async () => {
  const { internal, serviceToken } = service();
  const token = folder.write("token", `${serviceToken}\n`);
  const port = new URL(internal).port;
  folder.write("demo.json", JSON.stringify({ internal_url: internal, service_token: serviceToken }));
  const ways: [string[], Record<string, string>][] = [
    [
      ["--url", internal, "--token-file", token],
      { RECORDS_INTERNAL_URL: "http://127.0.0.1:1", SERVICE_TOKENS: "another-token" },
    ],
    [[], { INTERNAL_HOST: "0.0.0.0", INTERNAL_PORT: port, SERVICE_TOKENS: `${serviceToken},second` }],
    [[], { DATA_DIR: folder.path("") }],
  ];
  for (const [args, environment] of ways) expect((await runCommand([...args, "status"], { environment })).code).toBe(0);
});

test("the error for a missing or rejected token says so and never repeats the token", async () => {
  const none = await runCommand(["status"], { environment: { RECORDS_INTERNAL_URL: service().internal } });
  expect([none.code, none.stdout]).toEqual([2, ""]);
  expect(none.stderr).toContain("SERVICE_TOKENS");
  const wrong = await cli(service(), ["account", "list"], { environment: { SERVICE_TOKENS: "quite-another-token" } });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("rejected the service token (401)");
  expect(wrong.stderr).not.toContain("quite-another-token");
  const broken = await cli(service(), ["account", "list"], { environment: { SERVICE_TOKENS: "two\nlines" } });
  expect(broken.code).toBe(2);
  // What is kept for the service on this machine goes to no other.
  folder.write(
    "demo.json",
    JSON.stringify({ internal_url: service().internal, service_token: service().serviceToken }),
  );
  const long = await runCommand(["status", "--token-file", folder.write("token", "a".repeat(65_537))]);
  expect([long.code, long.stderr]).toEqual([2, expect.stringContaining("cannot be read, is empty or is too long.")]);
  const elsewhere = await runCommand(["account", "list", "--url", "http://records.invalid:8081"], {
    environment: { DATA_DIR: folder.path("") },
  });
  expect(elsewhere.code).toBe(2);
});

test("if nothing, or something else, listens at the address, it ends with 3 or 1 and says what to check", async () => {
  const nothing = await cli(service(), ["account", "list", "--url", "http://127.0.0.1:1"]);
  expect([nothing.code, nothing.stderr]).toEqual([
    3,
    "records: Nothing listens at http://127.0.0.1:1. Start the service (npm start), or set --url.\n",
  ]);
  const untrusted = await startTlsServer();
  const plain = service().internal.replace("http:", "https:");
  for (const [url, code] of [
    [plain, "ERR_SSL_"],
    [`https://${untrusted.host}`, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ] as const)
    for (const args of [
      ["status", "--url", url],
      ["api", "GET", "/v1/health", "--base-url", url],
    ]) {
      const failed = await cli(service(), args);
      expect([failed.code, failed.stderr]).toEqual([
        3,
        expect.stringMatching(`^records: The TLS connection to ${url} failed .${code}`),
      ]);
    }
  await untrusted.stop();
  const outside = await cli(service(), ["account", "list", "--url", service().base]);
  expect(outside.code).toBe(1);
  expect(outside.stderr).toContain("Check that it is the internal listener");
  const stranger = createServer((socket) =>
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n").on("error", () => undefined),
  );
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const lost = await cli(service(), [
    "account",
    "list",
    "--json",
    "--url",
    `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`,
  ]);
  stranger.close();
  expect(lost.code).toBe(3);
  expect(JSON.parse(lost.stderr).error.exit_code).toBe(3);
  const settings = settingsFor(service());
  expect((await runCommand(["status", "--url", "ftp://x"], { environment: settings })).code).toBe(2);
});

test("a link that is closed while it connects leaves no connection", async () => {
  // It accepts the connection, and the handshake never ends.
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const link = createLink({ url: `https://127.0.0.1:${port}`, token: "no-service-reads-this" });
  const [[socket], failure] = await Promise.all([
    once(silent, "connection") as Promise<[Socket]>,
    new Promise<unknown>((resolve) => {
      link.client(InterfaceService).getState({}).catch(resolve);
      silent.once("connection", () => link.close());
    }),
  ]);
  await once(socket.resume(), "close");
  silent.close();
  expect(failure).toMatchObject({ code: Code.Canceled });
});

test("a text of the service cannot control the terminal: its control characters are shown, and are exact in JSON", async () => {
  const reason = "\u001b[2J\u009b31m moved\u202e";
  const set = await cli(service(), ["interface", "writes", "on", "--reason", reason]);
  expect([set.code, set.stdout]).toEqual([0, expect.stringContaining("(\\u001b[2J\\u009b31m moved\\u202e)")]);
  expect((await cli(service(), ["interface", "log", "--limit", "1"])).stdout).toContain("\t\\u001b[2J");
  expect((await cliJson(service(), ["interface", "log", "--limit", "1"])).changes[0].reason).toBe(reason);
  expect((await cli(service(), ["account", "show", "\u001b[2J@x"])).stderr).toContain('"\\u001b[2J@x"');
});
