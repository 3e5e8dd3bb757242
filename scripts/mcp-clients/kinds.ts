// The clients to try, with their versions and sources.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nodeOfAtLeast } from "../node-programs.ts";
import type { NpmPackage } from "../npm-package.ts";
import { fetchPackage, packageFolder } from "../npm-package.ts";
import type { PythonProject } from "../python-tool.ts";
import { canMakeEnvironments, pythonWith, withoutEnvironments } from "../python-tool.ts";
import { startClientProcess } from "./client-process.ts";
import type { ClientKind, McpClient } from "./client.ts";
import { createInspector } from "./inspector.ts";

const sdkV1: NpmPackage = { name: "@modelcontextprotocol/sdk", version: "1.32.2" };
const inspector: NpmPackage = { name: "@modelcontextprotocol/inspector", version: "2.12.0" };
const mcp: PythonProject = { project: "mcp", version: "2.3.0" };
const fastmcp: PythonProject = { project: "fastmcp", version: "4.1.1" };
/** The Inspector's minimum version of Node. */
const inspectorNode = { major: 22, minor: 19 };

type Era = "modern" | "legacy";
const revisionOf = { modern: "2026-07-28", legacy: "2025-11-25" } as const;
const installed = (name: string): string => join(import.meta.dirname, "../../node_modules", name);

/** Every client, once per era that it supports. */
export const clientKinds: readonly ClientKind[] = [
  typescriptV2("modern", true),
  typescriptV2("legacy", false),
  typescriptV1(),
  python(mcp, "modern", true),
  python(mcp, "legacy", false),
  python(fastmcp, "modern", false),
  python(fastmcp, "legacy", true),
  inspectorCli("modern", true),
  inspectorCli("legacy", false),
];

function typescriptV2(era: Era, isShort: boolean): ClientKind {
  const name = "@modelcontextprotocol/client";
  const { version } = JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8")) as { version: string };
  return {
    id: "typescript-v2",
    name: "TypeScript SDK v2",
    version,
    revision: revisionOf[era],
    isShort,
    missing: () => undefined,
    install: () => undefined,
    start: async (url) => typescript("v2", era, url, [join(installed(name), "dist/index.mjs")]),
  };
}

function typescriptV1(): ClientKind {
  return {
    id: "typescript-v1",
    name: "TypeScript SDK v1",
    version: sdkV1.version,
    revision: revisionOf.legacy,
    isShort: true,
    missing: () => undefined,
    install: (cacheDir) => fetchPackage(sdkV1, cacheDir),
    async start(url, cacheDir) {
      const folder = join(packageFolder(sdkV1, cacheDir), "dist/esm/client");
      const modules = ["index.js", "streamableHttp.js", "auth.js"].map((file) => join(folder, file));
      return typescript("v1", "legacy", url, modules);
    },
  };
}

function typescript(generation: string, era: Era, url: string, modules: readonly string[]): McpClient {
  const program = join(import.meta.dirname, "typescript.ts");
  const hrefs = modules.map((path) => pathToFileURL(path).href);
  return startClientProcess(process.execPath, ["--import", "tsx", program, generation, era, url, ...hrefs]);
}

function python(project: PythonProject, era: Era, isShort: boolean): ClientKind {
  return {
    id: project.project,
    name: `Python ${project.project}`,
    version: project.version,
    revision: revisionOf[era],
    isShort,
    missing: () => (canMakeEnvironments() ? undefined : withoutEnvironments),
    install: (cacheDir) => void pythonWith(project, cacheDir),
    async start(url, cacheDir) {
      const program = join(import.meta.dirname, "python.py");
      return startClientProcess(pythonWith(project, cacheDir), [program, project.project, era, url]);
    },
  };
}

function inspectorCli(era: Era, isShort: boolean): ClientKind {
  const node = (cacheDir: string): string => nodeOfAtLeast(inspectorNode, cacheDir);
  return {
    id: "inspector",
    name: "MCP Inspector CLI",
    version: inspector.version,
    revision: revisionOf[era],
    isShort,
    missing: () => undefined,
    install(cacheDir) {
      fetchPackage(inspector, cacheDir);
      node(cacheDir);
    },
    async start(url, cacheDir, folder) {
      mkdirSync(folder, { recursive: true });
      const program = join(packageFolder(inspector, cacheDir), "clients/launcher/build/index.js");
      return createInspector({ node: node(cacheDir), program, url, era, folder });
    },
  };
}
