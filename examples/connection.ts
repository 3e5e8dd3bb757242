// Where the examples find the service and who they are there: from the environment, else the demo that `npm start`
// makes.
import { readFileSync } from "node:fs";
import { join } from "node:path";

// A failure is reported in a line, not by a stack.
process.once("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

/** The address of the service: `RECORDS_URL`, or where `npm start` puts it. */
export function serviceUrl(): string {
  return process.env["RECORDS_URL"] ?? "http://localhost:8080";
}

/** `RECORDS_URL` and `RECORDS_API_KEY`, or the demo's. Throws an error that says what to set. */
export function connection(): { readonly baseUrl: string; readonly apiKey: string } {
  return { baseUrl: serviceUrl(), apiKey: process.env["RECORDS_API_KEY"] ?? demoKey() };
}

function demoKey(): string {
  try {
    const demo = JSON.parse(readFileSync(join(import.meta.dirname, "../data/demo.json"), "utf8")) as {
      accounts: { api_key: string }[];
    };
    return demo.accounts[0]?.api_key ?? "";
  } catch {
    throw new Error(
      "There is no demo here (data/demo.json): run `npm start` first, or set RECORDS_URL and RECORDS_API_KEY.",
    );
  }
}
