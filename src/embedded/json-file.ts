// Reads the JSON files of a data folder.
import { readFile } from "node:fs/promises";

/** What the file holds; undefined where it is missing, or no JSON. */
export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
