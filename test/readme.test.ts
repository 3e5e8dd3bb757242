// Runs what the README tells a reader to run, against the program that `npm start` starts.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTransport } from "../examples/grpc-client/transport.ts";
import { ContactService } from "../src/gen/records/v1/contacts_pb.ts";
import type { Program } from "../fixtures/service/program.ts";
import { startCommand, startProgram } from "../fixtures/service/program.ts";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const commands = [...readme.matchAll(/^```console\n([\s\S]*?)^```/gm)]
  .flatMap(([, block]) => (block ?? "").split("\n"))
  .filter((line) => line.startsWith("$ "))
  .map((line) => line.slice(2));
const run = promisify(execFile);

let program: Program;
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "records-readme-"));
  program = await startProgram(folder);
  const { service_token, accounts } = program.demo();
  environment = {
    ...process.env,
    KEY: accounts[0]?.api_key ?? "",
    SERVICE_TOKEN: service_token,
    ACCOUNT: accounts[0]?.account_id ?? "",
  };
});

afterAll(async () => {
  await program.end("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** A line of the README, run by bash against the ports that are really listened on. */
async function runLine(line: string): Promise<{ status: string; body: unknown; text: string }> {
  const { base_url, internal_url } = program.demo();
  const here = line
    .replaceAll("localhost:8080", new URL(base_url).host)
    .replaceAll("localhost:8081", new URL(internal_url).host);
  const { stdout } = await run("bash", ["-c", here.replace(/^curl /, "curl -sS -w '\\n%{http_code}' ")], {
    env: environment,
  });
  const end = stdout.lastIndexOf("\n");
  const text = stdout.slice(0, end);
  return { status: stdout.slice(end + 1), body: JSON.parse(text), text };
}

const curls = commands.filter((line) => line.startsWith("curl "));

test("the README has one command to start and curl lines to try", () => {
  expect(commands[0]).toBe("npm ci && npm start");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
  // Without exec a shell would stand between npm and the service, and keep the signals for itself.
  expect(scripts.start).toBe(["exec node", ...startCommand].join(" "));
  expect(curls.length).toBeGreaterThanOrEqual(4);
});

test("npm test runs every test file there is, and none of them leaves a test out [OPS-03]", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { test: string } };
  expect(scripts.test).toBe("vitest run");
  expect(readFileSync(join(root, "vitest.config.ts"), "utf8")).toContain('include: ["test/**/*.test.ts"]');
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.ts"),
  );
  expect(files.length).toBeGreaterThan(60);
  for (const name of files)
    expect(readFileSync(join(root, "test", name), "utf8"), name).not.toMatch(
      /\b(test|it|describe)\.(skip|only|todo|skipIf|runIf)\b/,
    );
});

test.each(curls)("the README's line succeeds: %s", async (line) => {
  expect((await runLine(line)).status).toMatch(/^20[01]$/);
});

test("the first curl line answers what the README shows: the same contact, in the same shape", async () => {
  const shown = JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? "") as { data: Record<string, unknown>[] };
  const answered = JSON.parse((await runLine(curls[0] ?? "")).text) as { data: Record<string, unknown>[] };
  // The texts and dates of the demo follow the day; who it is does not.
  for (const name of ["id", "full_name", "email", "phone"])
    expect(answered.data[0]?.[name]).toEqual(shown.data[0]?.[name]);
  expect(answered.data).toHaveLength(1);
  expect(Object.keys(answered.data[0] ?? {})).toEqual(Object.keys(shown.data[0] ?? {}));
  for (const list of ["notes_timeline", "recent_sessions"]) {
    const [one] = answered.data[0]?.[list] as object[];
    const [other] = shown.data[0]?.[list] as object[];
    expect(Object.keys(one ?? {})).toEqual(Object.keys(other ?? {}));
  }
});

test("REST, Connect's JSON and gRPC give the same contacts for the README's query", async () => {
  const [rest, connect] = [curls[0], curls.find((line) => line.includes("records.v1.ContactService/SearchContacts"))];
  const ids = (records: unknown): string[] => (records as { id: string }[]).map(({ id }) => id);
  const byRest = ids(((await runLine(rest ?? "")).body as { data: unknown }).data);
  const byConnect = ids(((await runLine(connect ?? "")).body as { contacts: unknown }).contacts);
  const client = createClient(
    ContactService,
    createTransport("grpc", { baseUrl: program.demo().base_url, apiKey: environment["KEY"] ?? "" }),
  );
  const byGrpc = await client.searchContacts({ query: "mathieu peron" });
  expect(byRest.length).toBeGreaterThan(0);
  expect(byConnect).toEqual(byRest);
  expect(ids(byGrpc.contacts)).toEqual(byRest);
});

test("the README names every variable that is read, and no other", () => {
  const read = [...readFileSync(join(root, "src/config.ts"), "utf8").matchAll(/env\("([A-Z0-9_]+)"\)/g)].map(
    ([, name]) => name,
  );
  const named = [...readme.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, names]) =>
    [...(names ?? "").matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name),
  );
  const required = [...readFileSync(join(root, "src/config.ts"), "utf8").matchAll(/required\("([A-Z0-9_]+)"\)/g)].map(
    ([, name]) => name,
  );
  expect(new Set(named)).toEqual(new Set([...read, ...required].filter((name) => name !== "XDG_CACHE_HOME")));
});
