// Which release of the program this is.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const description = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { version: string };

/** The version that the package bears. */
export const release = description.version;
