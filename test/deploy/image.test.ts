// The Dockerfile's steps, taken one by one in a clean folder: what comes out is started as a container would start it.
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "../../src/embedded/port.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { rest, sessionSecret, startService, testIssuer } from "../fixtures/service/service.ts";
import type { Image } from "./build.ts";
import { buildImage, filesOf } from "./build.ts";
import { parseDockerfile } from "./dockerfile.ts";

vi.setConfig({ hookTimeout: 600_000, testTimeout: 120_000 });

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "records-image-"));
let image: Image;
let service: TestService;
let ports: readonly [port: number, internalPort: number];

beforeAll(async () => {
  image = buildImage(root, folder);
  service = await startService();
  ports = [await freePort(), await freePort()];
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What a container would be given, and nothing else of ours but where Node is. */
function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    ...image.env,
    TMPDIR: join(folder, "not-there"),
    ...{
      PORT: String(ports[0]),
      INTERNAL_PORT: String(ports[1]),
      MONGODB_URI: service.mongodbUri,
      REDIS_URL: service.redis.uri,
    },
    OIDC_ISSUER: testIssuer,
    OIDC_CLIENT_ID: "records",
    OIDC_CLIENT_SECRET: "client-secret-of-the-tests",
    SERVICE_TOKENS: service.serviceToken,
    SESSION_SECRET: sessionSecret,
    LOG_LEVEL: "warn",
  };
}

function startImage(): { readonly child: ChildProcess; readonly ended: Promise<unknown>; output(): string } {
  const [program = "", ...args] = image.cmd;
  const child = spawn(program, args, { cwd: image.workdir, env: environment(), stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    child,
    ended: once(child, "close").then(([code, signal]) => (code ?? signal) as unknown),
    output: () => output,
  };
}

function checkHealth(): { readonly status: number | null; readonly stderr: string } {
  const [program = "", ...args] = image.healthcheck;
  return spawnSync(program, args, { cwd: image.workdir, env: environment(), encoding: "utf8" });
}

test("the image serves on both listeners, passes its own health check, writes nothing to its folder, and ends with 0 on SIGTERM [OPS-10, OPS-16]", async () => {
  expect(checkHealth()).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/readyz: ECONNREFUSED\n$/),
  });
  const before = filesOf(image.root);
  const { child, ended, output } = startImage();
  try {
    await vi.waitFor(() => expect(output()).toContain("Records is up"), { timeout: 90_000, interval: 100 });
    expect(checkHealth()).toMatchObject({ status: 0, stderr: "" });
    const { key } = await service.account();
    const base = `http://127.0.0.1:${ports[0]}`;
    expect((await rest(base, "/v1/health")).body).toEqual({ data: { status: "ok", version: "1.0.0" } });
    expect((await rest(base, "/v1/contacts", { key, body: { full_name: "Ann Image" } })).status).toBe(201);
    expect((await rest(base, "/v1/contacts?query=image", { key })).body.data).toMatchObject([
      { full_name: "Ann Image" },
    ]);
    for (const path of ["/", "/docs", "/guide", "/guide/quickstart", "/openapi.json"])
      expect([path, (await fetch(base + path)).status]).toEqual([path, 200]);
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ended, output()).toBe(0);
  expect(checkHealth().status).toBe(1);
  expect(filesOf(image.root)).toEqual(before);
});

test("the image contains the operator's command line", () => {
  const { status, stdout } = spawnSync("node", ["bin/records.js", "--help"], {
    cwd: image.workdir,
    env: environment(),
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining("doctor")]);
});

test("the image contains nothing that the service does not need, and needs all that it copies", async () => {
  const files = filesOf(image.workdir).filter((path) => !path.startsWith("node_modules/"));
  expect([...new Set(files.map((path) => path.split("/")[0]))].sort()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "SECURITY.md",
    "bin",
    "client",
    "deploy",
    "dist",
    "docs",
    "examples",
    "gateway",
    "package.json",
    "src",
  ]);
  // The guide has these pages besides its own.
  const pages = /^(?:docs\/.*|CHANGELOG|SECURITY|(?:client|deploy|examples)\/README)\.md$/;
  const unneeded = files.filter((path) => /\.(md|test\.ts|env)$|^gateway\/plugin/.test(path) && !pages.test(path));
  expect(unneeded).toEqual([]);
  const development = ["esbuild", "mongodb-memory-server", "oidc-provider"];
  for (const name of ["vitest", "typescript", "playwright-core", "@records-api/client", ...development])
    expect(existsSync(join(image.workdir, "node_modules", name)), name).toBe(false);
  renameSync(join(image.workdir, "gateway"), join(folder, "gateway"));
  try {
    expect(await startImage().ended).not.toBe(0);
  } finally {
    renameSync(join(folder, "gateway"), join(image.workdir, "gateway"));
  }
});

test("the image has the Node that the package requires, does not run as root, describes itself, and exposes the ports of both listeners", () => {
  const { engines, version, license, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    engines: { node: string };
    version: string;
    license: string;
    description: string;
  };
  const stages = parseDockerfile(readFileSync(join(root, "Dockerfile"), "utf8"));
  expect(new Set(stages.map(({ image: from }) => from)).size).toBe(1);
  expect(Number(/^node:(\d+)-bookworm-slim$/.exec(image.from)?.[1])).toBeGreaterThanOrEqual(
    Number(/\d+/.exec(engines.node)?.[0]),
  );
  // By number, because Kubernetes cannot see from a name that it is not root. The manifests have the same one.
  expect(image.user).toBe("1000:1000");
  expect(image.ports).toEqual(["8080", "8081"]);
  expect(image.env).toEqual({
    NODE_ENV: "production",
    NODE_DISABLE_COMPILE_CACHE: "1",
    HOST: "0.0.0.0",
    INTERNAL_HOST: "0.0.0.0",
  });
  expect(image.labels).toMatchObject({
    "org.opencontainers.image.title": "Records",
    "org.opencontainers.image.licenses": license,
    "org.opencontainers.image.description": description,
  });
  expect(readFileSync(join(root, "Dockerfile"), "utf8")).toContain(`ARG VERSION=${version}\n`);
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
  expect(`exec ${image.cmd.join(" ")}`).toBe(scripts.start);
});
