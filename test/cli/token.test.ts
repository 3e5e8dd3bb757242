// `records token`: a user signs in, by the browser or by a pasted address, and the program prints the access token.
import { expect, test, vi } from "vitest";
import { noteSecret } from "../fixtures/service/secrets.ts";
import { statusOf } from "../fixtures/sign-in/assistants.ts";
import type { Browser, Page } from "../fixtures/sign-in/browser.ts";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import type { Ended, Running } from "./cli.ts";
import { runCommand, startCli } from "./cli.ts";

// A start of the program takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const fixture = useSignInFixture();

/** Starts the command, and the address of the page that it prints. */
async function begin(args: readonly string[] = []): Promise<Running & { readonly page: URL }> {
  const running = startCli(["token", `${fixture().base}/mcp`, ...args], { input: { open: true } });
  let said = "";
  const page = await new Promise<URL>((resolve, reject) => {
    running.child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, address] = /^Sign in on this page: (\S+)\n/m.exec(said) ?? [];
      if (address !== undefined) resolve(new URL(address));
    });
    void running.ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  return { ...running, page };
}

async function signIn(browser: Browser, page: URL, decision = "Allow"): Promise<Page> {
  const form = await browser.open(page);
  return browser.submit(
    await browser.submit(form, { login: ann.email, password: ann.password }, "Sign in"),
    {},
    decision,
  );
}

async function expectToken({ code, stdout, stderr }: Ended): Promise<void> {
  expect(code, stderr).toBe(0);
  const token = stdout.trim();
  noteSecret(token);
  expect(stdout).toBe(`${token}\n`);
  expect(stderr).not.toContain(token);
  expect(await statusOf(fixture().base, token)).toBe(200);
}

test("prints a token that the MCP surface accepts, after a sign-in with PKCE that returns to this machine [OPS-61, OAU-11]", async () => {
  const { page, ended } = await begin();
  expect(page.origin).toBe(fixture().provider.issuer);
  expect(page.searchParams.get("code_challenge_method")).toBe("S256");
  expect(page.searchParams.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const last = await signIn(createBrowser(), page);
  expect([last.status, last.text]).toEqual([200, "You can close this page and return to the terminal.\n"]);
  await expectToken(await ended);
});

test("with --json it still prompts the user to sign in, and prints one document [OPS-61]", async () => {
  const { page, ended } = await begin(["--json", "--no-browser"]);
  await signIn(createBrowser(), page);
  const { code, stdout, stderr } = await ended;
  expect(code, stderr).toBe(0);
  const { access_token: token, mcp_url: mcpUrl } = JSON.parse(stdout) as { access_token: string; mcp_url: string };
  noteSecret(token);
  expect(mcpUrl).toBe(`${fixture().base}/mcp`);
  expect(await statusOf(fixture().base, token)).toBe(200);
});

test("reads the address of the last page from standard input if the browser runs on another machine [OPS-61]", async () => {
  const { page, ended, child } = await begin(["--no-browser"]);
  const elsewhere = createBrowser([page.searchParams.get("redirect_uri") ?? ""]);
  const { url } = await signIn(elsewhere, page);
  const forged = new URL(url);
  forged.searchParams.set("state", "another");
  child.stdin?.write(`not an address\n${forged.href}\n\n${url.href}\n`);
  const result = await ended;
  await expectToken(result);
  expect(result.stderr.match(/^That is not the address/gm)).toHaveLength(2);
});

test("ignores a response to another sign-in, and prints JSON for programs [OPS-61]", async () => {
  const { page, ended, child } = await begin();
  child.stdin?.end();
  const callback = page.searchParams.get("redirect_uri") ?? "";
  for (const [path, method] of [
    [`${callback}?code=stolen&state=another`, "GET"],
    [`${callback}?code=stolen`, "GET"],
    [new URL("/", callback).href, "GET"],
    [`${callback}?code=stolen&state=${page.searchParams.get("state")}`, "POST"],
  ] as const)
    expect((await fetch(path, { method })).status, path).toBe(400);
  await signIn(createBrowser(), page);
  await expectToken(await ended);

  const failed = startCli(["token", "--json", "http://127.0.0.1:9/mcp"]);
  const { code, stderr } = await failed.ended;
  expect([code, JSON.parse(stderr).error]).toMatchObject([1, { code: "sign_in", exit_code: 1 }]);
});

test("reports that the user denied access, or that the address is invalid [OPS-61]", async () => {
  const { page, ended } = await begin();
  await signIn(createBrowser(), page, "Deny");
  expect(await ended).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("The identity provider issued no token: the user did not allow it."),
  });
  expect(await runCommand(["token", "nowhere"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining('not "nowhere"'),
  });
});
