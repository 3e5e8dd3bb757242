// Brings the people of a CSV file (full_name, email, phone) into the contacts: new ones are created once, changed ones
// updated.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Contact } from "../../client/src/index.ts";
import { RecordsClient, RecordsError } from "../../client/src/index.ts";
import { connection } from "../connection.ts";

interface Person {
  readonly full_name: string;
  readonly email: string;
  readonly phone: string | null;
}

const maxQueryLength = 100;
const client = new RecordsClient(connection());
const file = process.argv[2] ?? join(import.meta.dirname, "people.csv");
const rows = parse<Record<string, string>>(readFileSync(file, "utf8"), {
  columns: true,
  skip_empty_lines: true,
  bom: true,
  trim: true,
});

const outcomes = { created: 0, updated: 0, unchanged: 0, failed: 0 };
for (const { full_name = "", email = "", phone = "" } of rows) {
  try {
    const outcome = await sync({ full_name, email, phone: phone === "" ? null : phone });
    outcomes[outcome]++;
    console.log(`${email}: ${outcome}`);
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error;
    outcomes.failed++;
    console.error(`${email || full_name}: ${error.message} (request ${error.requestId ?? "without a response"})`);
  }
}
console.log(
  Object.entries(outcomes)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", "),
);
if (outcomes.failed > 0) process.exitCode = 1;

async function sync(person: Person): Promise<"created" | "updated" | "unchanged"> {
  const known = await find(person.email);
  if (known === undefined) {
    await client.contacts.create(person, { idempotencyKey: keyOf(person) });
    return "created";
  }
  if (known.full_name === person.full_name && known.phone === person.phone) return "unchanged";
  await client.contacts.update(known.id, { full_name: person.full_name, phone: person.phone });
  return "updated";
}

/** The active contact that has the email, which is unique whatever its case. */
async function find(email: string): Promise<Contact | undefined> {
  const found = await client.contacts.search({ query: email.slice(0, maxQueryLength) });
  return found.find((contact) => contact.email?.toLowerCase() === email.toLowerCase());
}

/** The same row gives the same key, so that a run that broke off, or two at once, create nobody twice. */
function keyOf(person: Person): string {
  return `sync-contacts-${createHash("sha256").update(JSON.stringify(person)).digest("hex")}`;
}
