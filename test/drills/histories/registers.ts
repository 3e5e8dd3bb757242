// Clients that change and read contacts: slow writers share some contacts, and one client renames others.
import { setTimeout as sleep } from "node:timers/promises";
import type { WireName } from "../../fixtures/clients/wires.ts";
import type { Calls, From } from "./calls.ts";
import type { Fields, Intent, Operation } from "./operation.ts";

/** A contact of a round, and a session that copies its name. */
export interface Register {
  readonly contact: string;
  readonly session: string;
  readonly initial: Fields;
}

/** What every client of a round needs. */
export interface Round {
  readonly number: number;
  readonly calls: Calls;
  readonly instances: readonly string[];
  running(): boolean;
}

const wires: readonly WireName[] = ["rest", "rest", "grpc", "connect"];

let turn = 0;

/** A unique value for a field. It is one word, so that a search matches all of it. */
export function uniqueValue(field: keyof Fields, round: number): string {
  const word = `v${round}x${(turn++).toString(36)}`;
  return field === "email" ? `${word}@example.com` : field === "phone" ? `+1555${String(1_000_000 + turn)}` : word;
}

export function pick<T>(among: readonly T[]): T {
  return among[Math.floor(Math.random() * among.length)] as T;
}

export function fromClient(client: string, instance: string): From {
  return { client, instance, wire: pick(wires) };
}

/** Renames contacts over one instance. Moves to the next contact after an unknown outcome. */
export async function renamer(
  { number, calls, running }: Round,
  instance: string,
  registers: readonly Register[],
  current: Map<string, { register: Register; name: string; before: string }>,
): Promise<void> {
  const client = `renamer ${instance}`;
  let at = 0;
  while (running()) {
    const register = registers[at % registers.length] as Register;
    const name = uniqueValue("full_name", number);
    const before =
      current.get(instance)?.register === register ? current.get(instance)?.name : register.initial.full_name;
    const { outcome } = await calls.set(fromClient(client, instance), register.contact, { full_name: name });
    if (outcome === "unknown") at++;
    else if (outcome === "ok") current.set(instance, { register, name, before: before ?? "" });
    await sleep(250);
  }
}

/**
 * Reads what the renamers wrote in a random way: the contact, its session, or a search by the new or the previous name.
 */
export async function reader(
  { calls, running }: Round,
  client: string,
  instance: string,
  current: ReadonlyMap<string, { register: Register; name: string; before: string }>,
): Promise<void> {
  while (running()) {
    const latest = pick([...current.values()]);
    if (latest !== undefined) {
      const {
        register: { contact, session },
        name,
        before,
      } = latest;
      const from = fromClient(client, instance);
      const way = Math.floor(Math.random() * 4);
      if (way === 0) await calls.get(from, contact);
      else if (way === 1) await calls.copy(from, contact, session);
      else await calls.search(from, contact, way === 2 ? name : before);
    }
    await sleep(60);
  }
}

/** Writes a contact by external id over the internal listener, and reads it over the public one. */
export async function ingester(
  { number, calls, running }: Round,
  instance: string,
  accountId: string,
  externalId: string,
  { contact, initial }: Register,
): Promise<void> {
  const client = `ingester ${instance}`;
  while (running()) {
    const full_name = uniqueValue("full_name", number);
    // The other fields keep their values: only the name identifies the write.
    const intent: Intent = {
      client,
      instance,
      wire: "internal",
      kind: "set",
      contact,
      wrote: { full_name },
      records: "write",
    };
    const contacts = [{ ...initial, external_id: externalId, full_name }];
    await calls.internal(
      intent,
      "records.ingest.v1.IngestService/UpsertContacts",
      { account_id: accountId, contacts },
      itemResult,
    );
    await sleep(400);
    await calls.get(fromClient(client, instance), contact);
  }
}

/** Each item has its own result, whatever the status of the batch. */
function itemResult(body: unknown): Pick<Operation, "outcome" | "status"> & { id?: string } {
  const { results: [result] = [] } = body as {
    results?: readonly { id?: string; error?: { reason?: string; message?: string } }[];
  };
  if (result?.error === undefined) return { outcome: "ok", status: "200", id: result?.id ?? "" };
  const { reason = "", message = "" } = result.error;
  return {
    outcome: /UNAVAILABLE|INTERNAL/.test(reason) ? "unknown" : "failed",
    status: reason === "REASON_UNAVAILABLE" || reason === "UNAVAILABLE" ? "503" : `${reason} ${message}`,
  };
}
