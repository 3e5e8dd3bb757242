// Which release of the program this is.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../root.ts";

const description = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string };

/** The version of the package. */
export const release = description.version;
