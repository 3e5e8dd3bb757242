// Release of the running program.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../process/root.ts";

const description = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string };

/** The version in `package.json`. */
export const release = description.version;
