// Finds a Chromium on the machine; without one the tests of this folder are left out, and that is said.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Where a Chromium is: `CHROMIUM`, else by its usual names on PATH. */
export function findChromium(): string | undefined {
  const set = process.env["CHROMIUM"];
  if (set !== undefined && set !== "") return set;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** What to say where there is none. */
export const withoutChromium =
  "No Chromium was found: the tests of the dashboard in a real browser (test/browser) are LEFT OUT. Install it (on Debian: apt-get install chromium), or set CHROMIUM to its path.";

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
