// Has mongodb-memory-server download a mongod, in a process of its own that is ended when nothing comes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { lastLine, type Search } from "./program.ts";

/**
 * The package's download cannot be called off from outside, but a process can. It prints how far it is, then the path.
 */
const DOWNLOAD = `
  const [, memoryServer, downloadDir] = process.argv;
  require(memoryServer).MongoBinary.getPath({ downloadDir }).then(
    (path) => console.log("\\n" + path),
    (error) => { console.error(error.message); process.exit(1); },
  );`;

/** The release that is downloaded, unless MONGOMS_VERSION names another. */
const VERSION = "8.2.6";

/** Within this time the first byte has to come: without a network the next source should be tried soon. */
const FIRST_BYTE_MS = 5_000;
/** It prints every 2 seconds while it downloads, but unpacks and checks in silence. */
const SILENCE_MS = 30_000;

/**
 * The path of the mongod that mongodb-memory-server has or downloads for this system, put into the work folder.
 * The download is compared with the checksum that MongoDB publishes beside it.
 * The MONGOMS_ variables apply, except MONGOMS_MD5_CHECK, so that the check stays on, and MONGOMS_SYSTEM_BINARY.
 * Fails where the download fails, differs from its checksum, does not begin within 5 seconds (`firstByteMs`) or stops
 * for 30.
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
      ...{ MONGOMS_MAX_RETRIES: "1", ...env },
      ...{ MONGOMS_VERSION: env["MONGOMS_VERSION"] || VERSION, MONGOMS_MD5_CHECK: "true", MONGOMS_SYSTEM_BINARY: "" },
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
  // Its own download folder may hold one already, for other projects: then that is copied, not taken away.
  await copyFile(path, join(workDir, "mongod"));
  return join(workDir, "mongod");
}
