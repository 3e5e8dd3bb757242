// The path of the package, from which its sources and the bundle find its other files.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of our `package.json`. */
export const packageRoot = folderOfPackage(import.meta.dirname);

function folderOfPackage(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : folderOfPackage(dirname(folder));
}
