// Finds nginx and Caddy, and runs them with the examples of deploy/proxy, of which only places are replaced.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isListening } from "../../../src/embedded/port.ts";
import { selfSigned } from "../../support/tls-server.ts";
import { root } from "../settings.ts";

/** A proxy with an example of ours. */
export interface ProxyKind {
  readonly name: string;
  /** Its path; undefined where it is not installed. */
  find(): string | undefined;
  /** The notice for a machine without it. */
  readonly without: string;
  readonly example: string;
  /** Whether it requests /readyz of instances. */
  readonly checksHealth: boolean;
  /** The texts of the example that name places, and what takes their place. */
  places(to: Places): readonly (readonly [from: string, to: string])[];
  arguments(folder: string, file: string): readonly string[];
}

/** Where the proxy listens, and where its instances do: on 127.0.0.1 and 127.0.0.2. */
export interface Places {
  readonly folder: string;
  readonly port: number;
  readonly publicPort: number;
  readonly internalPort: number;
}

export interface Proxy {
  readonly base: string;
  readonly port: number;
  output(): string;
  stop(): Promise<void>;
}

const addresses = ({ publicPort }: Places): [string, string][] => [
  ["10.0.0.11:8080", `127.0.0.1:${publicPort}`],
  ["10.0.0.12:8080", `127.0.0.2:${publicPort}`],
];

export const nginx: ProxyKind = {
  name: "nginx",
  find: () => found("NGINX", "nginx", "-v") ?? found("NGINX", "/usr/sbin/nginx", "-v"),
  without:
    "No nginx was found: test/deploy/proxy/nginx.test.ts is LEFT OUT. Install it (on Debian: apt-get install nginx-light), or set NGINX to its path.",
  example: "deploy/proxy/nginx.conf",
  checksHealth: false,
  places: (to) => [
    ...addresses(to),
    ["pid /run/nginx.pid;", `pid ${to.folder}/pid; daemon off; error_log stderr;`],
    ["listen 443 ssl", `listen ${to.port} ssl`],
    ["/etc/nginx/records.crt", `${to.folder}/records.crt`],
    ["/etc/nginx/records.key", `${to.folder}/records.key`],
    // Its usual folders belong to root.
    ["access_log off;", `access_log off; ${temporary.map((kind) => `${kind}_temp_path ${to.folder}/t;`).join(" ")}`],
  ],
  arguments: (folder, file) => ["-p", folder, "-c", file],
};
const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

export const caddy: ProxyKind = {
  name: "Caddy",
  find: () => found("CADDY", "caddy", "version"),
  without:
    "No Caddy was found: test/deploy/proxy/caddy.test.ts is LEFT OUT. Install it (on Debian: apt-get install caddy), or set CADDY to its path.",
  example: "deploy/proxy/Caddyfile",
  checksHealth: true,
  places: (to) => [
    ...addresses(to),
    ["health_port 8081", `health_port ${to.internalPort}`],
    [
      "\nrecords.example.com {",
      `\nhttps://localhost:${to.port} {\n\ttls ${to.folder}/records.crt ${to.folder}/records.key`,
    ],
    ["admin off", "admin off\n\tauto_https disable_redirects\n\tskip_install_trust"],
  ],
  arguments: (_folder, file) => ["run", "--adapter", "caddyfile", "--config", file],
};

/** The path that the variable names, or the program. */
function found(variable: string, program: string, version: string): string | undefined {
  const set = process.env[variable];
  const named = set === undefined || set === "" ? program : set;
  return spawnSync(named, [version], { stdio: "ignore" }).status === 0 ? named : undefined;
}

/** Starts a proxy with its example; resolves when it listens. */
export async function startProxy(kind: ProxyKind, ports: Omit<Places, "folder" | "port">): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), "records-proxy-"));
  const port = await freePort();
  const file = join(folder, "configuration");
  writeFileSync(join(folder, "records.crt"), selfSigned.cert);
  writeFileSync(join(folder, "records.key"), selfSigned.key);
  writeFileSync(file, placed(kind, { ...ports, folder, port }));
  const child = spawn(kind.find() ?? kind.name, kind.arguments(folder, file), {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const exited = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const until = Date.now() + 30_000;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`${kind.name} does not start: ${output}`);
    }
    await sleep(50);
  }
  return { base: `https://localhost:${port}`, port, output: () => output, stop };
}

/** The example with the places of a test. Throws where it does not name one of them. */
function placed(kind: ProxyKind, to: Places): string {
  return kind.places(to).reduce(
    (text, [from, place]) => {
      if (!text.includes(from)) throw new Error(`${kind.example} does not hold ${from}`);
      return text.replaceAll(from, () => place);
    },
    readFileSync(join(root, kind.example), "utf8"),
  );
}
