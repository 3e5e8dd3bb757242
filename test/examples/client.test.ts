// The examples that use the typed client and the generated one, run as programs against a service; and what all READMEs
// say.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";
import { demoFolder, noDemo, root, runExample } from "./run.ts";

const service = useService();

async function account(): Promise<{ client: Client; environment: Record<string, string> }> {
  const client = await newClient(service());
  return { client, environment: { RECORDS_URL: service().base, RECORDS_API_KEY: client.key } };
}

test("daily-brief prints the day's sessions from the morning on, with the contact, the preparation, and the beginning of the last notes", async () => {
  const { client, environment } = await account();
  const ann = await client.put.contact({ full_name: "Ann Lee", email: "ann@example.com" });
  const note = (content: string, day: number) => ({
    contact_id: ann,
    content,
    source: "import",
    created_at: `2026-02-0${day}T00:00:00Z`,
  });
  await client.put.contactNotes(
    note("Too old", 1),
    note("First", 2),
    note("Long ".repeat(100), 3),
    note("Two\nlines", 4),
  );
  const [, morning] = await client.put.sessions(
    { title: "Evening", session_date: "2026-03-02T18:30:00Z" },
    {
      title: "Kick-off",
      session_date: "2026-03-02T09:00:00Z",
      contact_id: ann,
      conference_url: "https://meet.example.com/1",
    },
    { title: "The day after", session_date: "2026-03-03T00:00:00Z" },
    { title: "The day before", session_date: "2026-03-01T23:59:59.999Z" },
    { title: "Much later", session_date: "2026-04-03T00:00:00Z" },
  );
  await client.put.sessionNotes({
    session_id: morning,
    content: "Ask about the garden.",
    position: 0,
    type: "SESSION_NOTE_TYPE_AI_MEETING_PREP",
  });
  expect(await runExample("daily-brief", ["2026-03-02"], environment)).toEqual({
    status: 0,
    error: "",
    out: `# 2026-03-02: 2 sessions (times in UTC)

## 09:00 Kick-off
https://meet.example.com/1

Ask about the garden.

Ann Lee, ann@example.com
- 2026-02-04 Two lines
- 2026-02-03 ${"Long ".repeat(100).slice(0, 159)}…
- 2026-02-02 First

## 18:30 Evening
`,
  });
  const demo = { DATA_DIR: demoFolder(service().base, client.key) };
  expect((await runExample("daily-brief", ["2026-03-04"], demo)).out).toBe(
    "# 2026-03-04: 0 sessions (times in UTC)\n\n# 2026-04-03: 1 session (times in UTC)\n\n## 00:00 Much later\n",
  );
});

test("sync-contacts creates missing contacts, updates changed ones, and creates no duplicate, run twice or two at once", async () => {
  const { client, environment } = await account();
  await client.post("/v1/contacts", { full_name: "Tomas", email: "Tomas.Herrera@example.com" });
  const sync = (...args: string[]) => runExample("sync-contacts", args, environment);
  const [one, other] = await Promise.all([sync(), sync()]);
  expect([one.status, other.status]).toEqual([0, 0]);
  expect(await sync()).toMatchObject({
    status: 0,
    out: expect.stringContaining("0 created, 0 updated, 3 unchanged, 0 failed"),
  });
  const { body } = await client.get("/v1/contacts?query=example.com");
  const people = (body.data as { full_name: string; email: string; phone: string | null }[]).map(
    ({ full_name, email, phone }) => [full_name, email, phone],
  );
  expect(people.sort()).toEqual([
    ["Grace Okafor", "grace.okafor@example.com", "+234 803 555 0117"],
    ["Lindqvist, Åsa", "asa.lindqvist@example.com", null],
    ["Tomás Herrera", "Tomas.Herrera@example.com", "+52 55 5550 0142"],
  ]);
});

test("sync-contacts names the rejected rows, continues with the others, and fails", async () => {
  const { environment } = await account();
  const folder = mkdtempSync(join(tmpdir(), "records-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "people.csv"), "\ufefffull_name,email,phone\nNobody,nowhere,\nAnn Lee,ann@example.com,\n");
  const { status, out, error } = await runExample("sync-contacts", [join(folder, "people.csv")], environment);
  expect(status).toBe(1);
  expect(out).toBe("ann@example.com: created\n1 created, 0 updated, 0 unchanged, 1 failed\n");
  expect(error).toMatch(/^nowhere: email: .+ \(request [A-Za-z0-9._-]+\)\n$/);
});

test("export-notes writes every note of every page, in full, under its owner", async () => {
  const { client, environment } = await account();
  const ann = await client.put.contact({ full_name: "Ann Lee" });
  const session = await client.put.session({ title: "Kick-off" });
  const long = `Budget ${"x".repeat(2_000)} end`;
  const contents = [...Array.from({ length: 30 }, (_, index) => `Budget number ${index}.`), long];
  await client.put.contactNotes(
    ...contents.map((content, index) => ({
      contact_id: ann,
      content,
      source: "import",
      created_at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
    })),
  );
  await client.put.sessionNotes({
    session_id: session,
    content: `${long} of the session`,
    position: 0,
    type: "SESSION_NOTE_TYPE_USER_MANUAL",
  });
  const { status, out, error } = await runExample("export-notes", ["budget"], environment);
  expect([status, error]).toEqual([0, ""]);
  expect(
    out
      .split("\n")
      .filter((line) => line.startsWith("#"))
      .sort(),
  ).toEqual(["# Notes about “budget”", "## Ann Lee (contact)", "## Kick-off (session)"]);
  const lines = out.split("\n");
  for (const content of [...contents, `${long} of the session`])
    expect(lines.filter((line) => line === content)).toHaveLength(1);
  expect(await runExample("export-notes", [], environment)).toMatchObject({
    status: 1,
    error: expect.stringMatching(/^Say what to look for: .+\n$/),
  });
});

test.each([[[]], [["--connect"]]])(
  "grpc-client %j prints people and their sessions, and a failure with its code",
  async (options) => {
    const { client, environment } = await account();
    const ann = await client.put.contact({ full_name: "Ann Lee", email: "ann@example.com" });
    await client.put.sessions(
      { contact_id: ann, title: "Kick-off", session_date: "2026-03-02T09:00:00Z" },
      { contact_id: ann },
    );
    const grpc = (words: string[], more: Record<string, string> = {}) =>
      runExample("grpc-client", [...options, ...words], { ...environment, ...more });
    expect(await grpc(["ann", "lee"])).toEqual({
      status: 0,
      error: "",
      out: "Ann Lee <ann@example.com>\n  2026-03-02 Kick-off\n  undated    Untitled\n",
    });
    expect((await grpc(["nobody"])).out).toBe("Nobody was found.\n");
    expect(await grpc([], { RECORDS_API_KEY: "rec_wrong" })).toMatchObject({
      status: 1,
      error: expect.stringMatching(/^Unauthenticated: .+\n$/),
    });
  },
);

test("an example that cannot continue prints the reason in one line", async () => {
  const { environment } = await account();
  const away = await runExample("daily-brief", [], { ...environment, RECORDS_API_KEY: "rec_wrong" });
  expect(away).toMatchObject({ status: 1, out: "", error: expect.stringMatching(/^The API key is not valid.*\n$/) });
  expect(await runExample("daily-brief", [], { DATA_DIR: "/nowhere" })).toEqual({
    status: 1,
    out: "",
    error: `${noDemo}\n`,
  });
});

test("every example has a README with its command, and is in the list of examples", () => {
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const list = readFileSync(join(root, "examples/README.md"), "utf8");
  expect(folders.length).toBe([...list.matchAll(/^\| \[/gm)].length);
  for (const folder of folders) {
    expect(list).toContain(`[${folder}](${folder})`);
    const [, file = ""] =
      new RegExp(`^\\$ .*(examples/${folder}/\\S+)`, "m").exec(
        readFileSync(join(root, "examples", folder, "README.md"), "utf8"),
      ) ?? [];
    expect(
      readdirSync(join(root, "examples", folder)).map((name) => `examples/${folder}/${name}`),
      folder,
    ).toContain(file);
  }
});
