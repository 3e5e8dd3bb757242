// Downloads a mongod through mongodb-memory-server, in a child process that is killed when the download stalls.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { lastLine, type Search } from "./program.ts";

/**
 * The program of the child process. The package cannot cancel a download, but a process can be killed. It prints its
 * progress, and then the path.
 */
const DOWNLOAD = `
  const [, memoryServer, downloadDir] = process.argv;
  require(memoryServer).MongoBinary.getPath({ downloadDir }).then(
    (path) => console.log("\\n" + path),
    (error) => { console.error(error.message); process.exit(1); },
  );`;

/**
 * The version to download, unless MONGOMS_VERSION names another: the newest patch of the major release with the longest
 * support. Minor releases such as 8.2 end with the next one.
 */
export const VERSION = "8.0.34";

/** The time limit for the first byte. Without a network, it lets the next source be tried soon. */
const FIRST_BYTE_MS = 5_000;
/**
 * The time limit for further output. The package prints every 2 seconds during the download, but nothing while it
 * unpacks and checks.
 */
const SILENCE_MS = 30_000;

/**
 * Returns the path of the mongod that mongodb-memory-server has or downloads for this system, copied into the work
 * folder. The package compares the download with the checksum that MongoDB publishes with it. The MONGOMS_ variables
 * apply, except MONGOMS_SYSTEM_BINARY and MONGOMS_MD5_CHECK: the check always stays on. Fails if the download fails,
 * does not match its checksum, does not start within 5 seconds (`firstByteMs`) or stalls for 30.
 */
export async function fetchFromMemoryServer(
  workDir: string,
  { env, progress }: Omit<Search, "cacheDir">,
  firstByteMs = FIRST_BYTE_MS,
): Promise<string> {
  const memoryServer = createRequire(import.meta.url).resolve("mongodb-memory-server");
  const child = spawn(process.execPath, ["-e", DOWNLOAD, memoryServer, workDir], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      MONGOMS_MAX_RETRIES: "1",
      ...env,
      MONGOMS_VERSION: env["MONGOMS_VERSION"] || VERSION,
      ...((await isDebianOnArm()) ? { MONGOMS_DISTRO: env["MONGOMS_DISTRO"] || "ubuntu-22.04" } : {}),
      MONGOMS_MD5_CHECK: "true",
      MONGOMS_SYSTEM_BINARY: "",
    },
  });
  let printed = "";
  let complaint = "";
  let silent = false;
  const giveUp = (): void => {
    silent = true;
    child.kill("SIGKILL");
  };
  let patience = setTimeout(giveUp, firstByteMs);
  child.stdout.on("data", (chunk: Buffer) => {
    if (printed === "") progress("Fetching MongoDB through mongodb-memory-server (once) …");
    printed += chunk.toString();
    clearTimeout(patience);
    patience = setTimeout(giveUp, SILENCE_MS);
  });
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(patience);
  if (silent) throw new Error(`the download failed (${printed === "" ? "there was no output" : "it stopped"})`);
  const path = lastLine(printed);
  if (code !== 0 || path === undefined)
    throw new Error(`the download failed (${lastLine(complaint) ?? "no reason given"})`);
  // Copied, because the path may be in the package's own download folder, which other projects use.
  await copyFile(path, join(workDir, "mongod"));
  return join(workDir, "mongod");
}

/** Returns whether this is Debian on arm64, for which MongoDB has no build. The one for Ubuntu 22.04 runs there. */
async function isDebianOnArm(): Promise<boolean> {
  if (process.platform !== "linux" || process.arch !== "arm64") return false;
  return /^ID=["']?debian["']?$/m.test(await readFile("/etc/os-release", "utf8").catch(() => ""));
}
