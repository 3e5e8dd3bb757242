// Clients that append notes and create contacts, then read them back over other instances.
import { setTimeout as sleep } from "node:timers/promises";
import { fromClient, pick } from "./registers.ts";
import type { Register, Round } from "./registers.ts";

/** A contact shows its newest 50 notes, and a reader must see all. */
const notesAtMost = 45;
let turn = 0;

/**
 * Appends notes over one instance. Every second note has a key and is retried until it is acknowledged. Reads go to all
 * instances.
 */
export async function noteTaker(
  { number, calls, instances, running }: Round,
  instance: string,
  registers: readonly Register[],
): Promise<void> {
  const client = `note taker ${instance}`;
  let [contacts, sent] = [0, 0];
  while (running()) {
    const { contact } = registers[contacts % registers.length] as Register;
    const note = `note-${number}-${(turn++).toString(36)}`;
    const keyed = turn % 2 === 0;
    for (let at = instances.indexOf(instance); ; at++) {
      const over = instances[at % instances.length] ?? instance;
      const { outcome } = await calls.append(fromClient(client, over), contact, note, keyed);
      if (outcome !== "unknown" || !keyed || !running()) break;
      await sleep(100);
    }
    if (++sent % notesAtMost === 0) contacts++;
    await sleep(150);
    await calls.get(fromClient(`note reader ${instance}`, pick(instances)), contact);
    await sleep(150);
  }
}

/** Reads contacts with growing notes, always over one instance. */
export async function noteReader(
  { calls, running }: Round,
  instance: string,
  registers: readonly Register[],
): Promise<void> {
  while (running()) {
    await calls.get(fromClient(`note watcher ${instance}`, instance), pick(registers).contact);
    await sleep(120);
  }
}

/**
 * Creates contacts with keys. Retries each over the next instance until it is acknowledged, then reads it over every
 * instance.
 */
export async function creator({ number, calls, instances, running }: Round, instance: string): Promise<void> {
  const client = `creator ${instance}`;
  while (running()) {
    const name = `k${number}x${(turn++).toString(36)}`;
    for (let at = instances.indexOf(instance); running(); at++) {
      const { outcome, id } = await calls.create(
        fromClient(client, instances[at % instances.length] ?? instance),
        name,
      );
      if (outcome === "ok" && id !== undefined)
        await Promise.all(instances.map((other) => calls.get(fromClient(`${client} reading`, other), id)));
      if (outcome !== "unknown") break;
      await sleep(100);
    }
    await sleep(400);
  }
}
