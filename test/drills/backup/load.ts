// A client that reads and writes its own account while others are exported or restored.
import { rest } from "../../fixtures/service/service.ts";

export interface Load {
  /** Stops it and returns the violations and the ids of the acknowledged contacts. */
  stop(): Promise<{ readonly violations: readonly string[]; readonly created: readonly string[] }>;
}

/** Creates contacts one at a time and reads each back. */
export function startLoad(base: string, key: string, what: string): Load {
  const violations: string[] = [];
  const created: string[] = [];
  let running = true;
  const loop = (async () => {
    while (running) {
      const made = await rest(base, "/v1/contacts", { key, body: { full_name: `Contact ${created.length}` } });
      const id = String(made.body?.data?.id);
      // A 503 only means that the machine is overloaded. Any other failure is a violation.
      if (made.status === 503) continue;
      if (made.status === 201) created.push(id);
      else violations.push(`${what}: a create got ${made.status}`);
      const read = await rest(base, `/v1/contacts/${id}`, { key });
      if (made.status === 201 && read.status !== 200 && read.status !== 503)
        violations.push(`${what}: a read got ${read.status}`);
    }
  })();
  return {
    async stop() {
      running = false;
      await loop;
      return { violations, created };
    },
  };
}
