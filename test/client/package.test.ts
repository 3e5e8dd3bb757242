// The package as others get it: packed, installed in an empty project, and imported by plain node.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { respond, scripted } from "./scripted.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "records-client-"));
const installed = join(folder, "node_modules/@records-api/client");

beforeAll(async () => {
  await run("npm", ["pack", "-w", "@records-api/client", "--pack-destination", folder], { cwd: root });
  const [packed = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, packed)], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("plain Node imports the built package and calls the service with it", async () => {
  const { url, seen } = await scripted(respond(200, { data: { status: "ok", version: "1.0.0" } }));
  const program = `import { RecordsClient, RecordsError } from "@records-api/client";
    const client = new RecordsClient({ baseUrl: process.argv[2] });
    console.log((await client.health()).status, typeof RecordsError);`;
  writeFileSync(join(folder, "program.mjs"), program);
  const { stdout } = await run(process.execPath, [join(folder, "program.mjs"), url], {
    env: { PATH: process.env["PATH"] },
  });
  expect(stdout).toBe("ok function\n");
  expect(seen.map((one) => one.url)).toEqual(["/v1/health"]);
});

test("can be published: it is not private, and contains its license and the build, without sources", () => {
  expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).not.toHaveProperty("private");
  expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  expect(readFileSync(join(installed, "LICENSE"), "utf8")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
});

test("another program compiles against its types, and a wrong use does not compile", async () => {
  const use = (line: string): string =>
    `import { RecordsClient } from "@records-api/client";\nconst client = new RecordsClient({ baseUrl: "http://localhost" });\n${line}\n`;
  writeFileSync(
    join(folder, "right.ts"),
    use("for await (const { title } of client.sessions.all({ limit: 5 })) title satisfies string | null;"),
  );
  writeFileSync(join(folder, "wrong.ts"), use("(await client.contacts.get('1')).nickname;"));
  const compile = (file: string): Promise<unknown> =>
    run(
      process.execPath,
      [
        join(root, "client/node_modules/typescript/bin/tsc"),
        "--strict",
        "--noEmit",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        file,
      ],
      { cwd: folder },
    );
  await compile("right.ts");
  await expect(compile("wrong.ts")).rejects.toMatchObject({
    stdout: expect.stringContaining("'nickname' does not exist"),
  });
});

test("depends on no package, no module of Node, and nothing of the service", () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, "client/package.json"), "utf8")) as {
    dependencies?: object;
  };
  expect(dependencies).toBeUndefined();
  const built = readdirSync(join(installed, "dist")).filter((name) => name.endsWith(".js"));
  expect(built).toContain("index.js");
  for (const name of built) {
    const text = readFileSync(join(installed, "dist", name), "utf8");
    for (const [, from] of text.matchAll(/from ["']([^"']+)["']/g))
      expect(
        built.map((other) => `./${other}`),
        name,
      ).toContain(from);
  }
});
