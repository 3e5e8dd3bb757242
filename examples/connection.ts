// The address and the API key for the examples: those of the environment, or of the demo that `npm start` creates.
import { readFileSync } from "node:fs";
import { join } from "node:path";

// A failure is reported in a line, not by a stack.
process.once("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

/** Returns `RECORDS_URL`, or the address of the demo. */
export function serviceUrl(): string {
  return process.env["RECORDS_URL"] || (readDemo()?.base_url ?? "http://localhost:8080");
}

/** Returns `RECORDS_URL` and `RECORDS_API_KEY`, or those of the demo. Throws an error that says what to set. */
export function connection(): { readonly baseUrl: string; readonly apiKey: string } {
  const apiKey = process.env["RECORDS_API_KEY"] || readDemo()?.accounts[0]?.api_key;
  if (!apiKey)
    throw new Error(
      "There is no demo here (data/demo.json): run `npm start` first, or set RECORDS_URL and RECORDS_API_KEY.",
    );
  return { baseUrl: serviceUrl(), apiKey };
}

/** The fields of `demo.json` that the examples use. */
interface Demo {
  readonly base_url?: string;
  readonly accounts: readonly { readonly api_key: string | null }[];
}

function readDemo(): Demo | undefined {
  const folder = process.env["DATA_DIR"] || join(import.meta.dirname, "../data");
  try {
    return JSON.parse(readFileSync(join(folder, "demo.json"), "utf8")) as Demo;
  } catch {
    return undefined;
  }
}
