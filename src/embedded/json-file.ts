// Reads the JSON files of a data folder.
import { readFile } from "node:fs/promises";

/** Returns the parsed content of the file, or undefined if the file cannot be read or is not JSON. */
export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
