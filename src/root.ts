// Where the package lies: its sources, and the bundle that is made of them, look for its other files from there.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of our `package.json`. */
export const packageRoot = folderOfPackage(import.meta.dirname);

function folderOfPackage(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : folderOfPackage(dirname(folder));
}
