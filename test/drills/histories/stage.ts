// Sets up a round: its contacts and users, and the clients that work on them.
import { setTimeout as sleep } from "node:timers/promises";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import type { Owners } from "./credentials.ts";
import { owner } from "./credentials.ts";
import { slowWriters } from "./writers.ts";
import { creator, noteReader, noteTaker } from "./records.ts";
import type { Register, Round } from "./registers.ts";
import { ingester, reader, renamer, uniqueValue } from "./registers.ts";
import type { User, Site } from "./site.ts";

/** Contacts by their use, and users. Nested lists have one entry per instance, in order. */
export interface Stage {
  readonly quiet: readonly Register[];
  readonly crossed: readonly Register[];
  readonly renamed: readonly (readonly Register[])[];
  readonly noted: readonly (readonly Register[])[];
  readonly ingested: readonly (readonly Register[])[];
  readonly users: readonly (readonly User[])[];
}

const quietContacts = 8;
const crossedContacts = 8;
const renamedContacts = 6;
const noteContacts = 3;
const usersPerOwner = 6;

/** Creates them before any fault. */
export async function prepare(site: Site, number: number): Promise<Stage> {
  const ingest = ingestInto(site.instance("i0"), site.account.id);
  const makeRegisters = (count: number, externalId?: string): Promise<Register[]> =>
    untilServed(() => makeAtOnce(count, externalId));
  const makeAtOnce = async (count: number, externalId?: string): Promise<Register[]> => {
    const fields = Array.from({ length: count }, () => ({
      full_name: uniqueValue("full_name", number),
      email: uniqueValue("email", number),
      phone: uniqueValue("phone", number),
    }));
    const ids = await ingest.contacts(
      ...fields.map((initial) => ({ ...initial, ...(externalId && { external_id: externalId }) })),
    );
    const sessions = await ingest.sessions(
      ...ids.map((contact_id) => ({ title: "Kickoff", session_date: "2026-03-02T09:00:00Z", contact_id })),
    );
    return ids.map((contact, at) => ({
      contact,
      session: sessions[at] ?? "",
      initial: fields[at] as Register["initial"],
    }));
  };

  const quiet = await makeRegisters(quietContacts);
  const crossed = await makeRegisters(crossedContacts);
  const renamed = await Promise.all(site.instances.map(() => makeRegisters(renamedContacts)));
  const noted = await Promise.all(site.instances.map(() => makeRegisters(noteContacts)));
  const ingested = await Promise.all(
    site.instances.map((instance) => makeRegisters(1, `external ${number} ${instance}`)),
  );
  const users = await Promise.all(
    site.instances.map((instance) =>
      Promise.all(Array.from({ length: usersPerOwner }, (_, at) => site.user(`person-${number}-${instance}-${at}`))),
    ),
  );
  return { quiet, crossed, renamed, noted, ingested, users };
}

/** Retries until it succeeds, with new values each time. A machine too busy for the lease must not fail the setup. */
async function untilServed<T>(make: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await make();
    } catch (error) {
      if (attempt === 60) throw error;
      await sleep(500);
    }
  }
}

/** Starts the clients. Each ends after the round, when its pending requests are done. */
export function startClients(owners: Owners, round: Round, stage: Stage): Promise<unknown>[] {
  const { site } = owners;
  const { quiet, renamed, noted, ingested, users } = stage;
  const { number } = round;
  const current: Parameters<typeof renamer>[3] = new Map();
  return [
    ...quiet.map((register) => slowWriters(round, register)),
    ...site.instances.flatMap((instance, at) => [
      renamer(round, instance, renamed[at] ?? [], current),
      ...[1, 2].map((one) => reader(round, `reader ${one} ${instance}`, instance, current)),
      noteTaker(round, instance, noted[at] ?? []),
      noteReader(round, instance, noted.flat()),
      creator(round, instance),
      ingester(round, instance, site.account.id, `external ${number} ${instance}`, ingested[at]?.[0] as Register),
      owner(owners, round, instance, users[at] ?? []),
    ]),
  ];
}
