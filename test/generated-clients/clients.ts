// Runs `npm run clients:generated` for one generator against a service of the test.
import { newClient, useService } from "../support/client.ts";
import { run } from "../examples/run.ts";
import type { Ended } from "../examples/run.ts";

/** Starts a service for the test file; what is returned runs the generators of these names against it. */
export function useGenerators(): (only: string, ...args: string[]) => Promise<Ended> {
  const service = useService({ RATE_LIMIT: "100000", RATE_BURST: "100000" });
  return async (only, ...args) => {
    const client = await newClient(service());
    const [contactId = ""] = await client.put.contacts({ full_name: "Ann Lee" }, { full_name: "Zoë Martin" });
    await client.records.contacts.appendNote(contactId, { content: "An early riser" });
    const ids: string[] = [];
    // More than a page.
    for (let day = 1; day <= 28; day++) {
      const session_date = `2026-02-${String(day).padStart(2, "0")}T09:00:00Z`;
      ids.push(await client.put.session({ contact_id: contactId, title: `Session ${day}`, session_date }));
    }
    await client.put.sessionNotes({
      session_id: ids[0] ?? "",
      title: "Plan",
      content: "An agenda",
      position: 0,
      type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
    });
    return run(
      process.execPath,
      ["--import", "tsx", "scripts/generated-clients.ts", "--url", service().base, "--only", only, ...args],
      { ...(process.env as Record<string, string>), RECORDS_API_KEY: client.key },
    );
  };
}
