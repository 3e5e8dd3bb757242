// Puts ids of another account into a field, and compares the response with that for an unknown id.
import { randomId } from "../fixtures/service/service.ts";
import type { Fields } from "../fixtures/clients/wires.ts";

/** Ids of an account's records, by their kinds. */
export type Ids = Readonly<Record<string, string>>;

/** The parts of a test of one field. */
export interface Probe {
  /** Sends a request as the own account; all that the response shows. */
  send(request: Fields): Promise<string>;
  /** Requests with this id in the field: those that show something of one's own record are put to the test. */
  readonly requests: (id: string) => readonly Fields[];
  /** Ids of records of one's own, which a write may use up. */
  own(): Promise<Ids>;
  readonly foreign: Ids;
  /** Texts that only the other account's records have. */
  readonly marks: readonly string[];
  /** Everything of the other account, as it is stored. */
  stored(): Promise<string>;
  /** False if an id of another account may be rejected although an unknown id is not. */
  readonly alike: boolean;
}

/** The flaws: what a response shows, or that nothing was tested. */
export async function flawsOf(probe: Probe): Promise<string[]> {
  const due = probe.alike ? await revealing(probe) : [0];
  if (due.length === 0) return ["one's own id shows no more than an unknown one: not put to the test"];
  const before = await probe.stored();
  const flaws: string[] = [];
  for (const at of due) {
    for (const [kind, id] of Object.entries(probe.foreign)) {
      const unknown = randomId();
      const hidden = await probe.send(requestAt(probe, id, at));
      const missing = await probe.send(requestAt(probe, unknown, at));
      const secrets = [...probe.marks, ...Object.values(probe.foreign)];
      const shown = secrets.filter((one) => one !== id && hidden.includes(one));
      if (shown.length > 0) flaws.push(`the id of another's ${kind} shows ${shown.join(", ")}`);
      if (probe.alike && likeness(hidden, id) !== likeness(missing, unknown))
        flaws.push(`the id of another's ${kind} differs from an unknown one: ${hidden} against ${missing}`);
    }
  }
  if ((await probe.stored()) !== before) flaws.push("what another account has was changed");
  return flaws;
}

/** The requests by which the own account's records show. */
async function revealing(probe: Probe): Promise<number[]> {
  const found: number[] = [];
  for (const at of probe.requests("").keys()) {
    const unknown = randomId();
    const missing = likeness(await probe.send(requestAt(probe, unknown, at)), unknown);
    for (const id of Object.values(await probe.own())) {
      if (likeness(await probe.send(requestAt(probe, id, at)), id) === missing) continue;
      found.push(at);
      break;
    }
  }
  return found;
}

function requestAt({ requests }: Probe, id: string, at: number): Fields {
  return requests(id)[at] ?? {};
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A response without the id that was sent, and without what is new in each. */
function likeness(response: string, id: string): string {
  return response.replaceAll(id, "<sent>").replace(uuid, "<id>").replace(instant, "<instant>");
}
