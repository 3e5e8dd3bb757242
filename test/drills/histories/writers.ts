// Clients that change contacts over several instances, so that both branches of a cut change the same contact.
import { setTimeout as sleep } from "node:timers/promises";
import type { Fields, Operation } from "./operation.ts";
import { fieldNames } from "./operation.ts";
import type { Register, Round } from "./registers.ts";
import { fromClient, pick, uniqueValue } from "./registers.ts";

/**
 * Two writers per instance occasionally change a field without waiting for each other. Each contact has its own pace,
 * slow enough that both sides of a cut reach the same number of changes.
 */
export async function slowWriters({ number, calls, instances, running }: Round, { contact }: Register): Promise<void> {
  const pace = 300 + Math.random() * 1_500;
  const free = instances.flatMap((instance) =>
    [1, 2].map((writer) => ({ client: `writer ${writer} ${contact.slice(0, 4)} ${instance}`, instance })),
  );
  const underWay = new Set<Promise<unknown>>();
  while (running()) {
    const [writer] = free.splice(Math.floor(Math.random() * free.length), 1);
    if (writer !== undefined) {
      const from = fromClient(writer.client, writer.instance);
      const field = pick(fieldNames);
      const operation =
        Math.random() < 0.6
          ? calls.set(from, contact, { [field]: uniqueValue(field, number) })
          : calls.get(from, contact);
      const done = operation.then(() => {
        free.push(writer);
        underWay.delete(done);
      });
      underWay.add(done);
    }
    await sleep(pace * (0.5 + Math.random()));
  }
  await Promise.all(underWay);
}

/**
 * Right after a cut, makes two successive changes over an instance on the old primary's side and one over another
 * instance, so that both branches have the same number of changes when they meet again.
 */
export async function crossedWriters(
  { number, calls, running }: Round,
  { contact }: Register,
  alone: readonly string[],
  many: readonly string[],
): Promise<void> {
  const change = async (
    who: string,
    among: readonly string[],
    field: keyof Fields,
    afterMs: number,
  ): Promise<Operation> => {
    const instance = pick(among);
    await sleep(afterMs);
    return calls.set(fromClient(`crossing ${who} ${contact.slice(0, 4)}`, instance), contact, {
      [field]: uniqueValue(field, number),
    });
  };
  const across = async (): Promise<void> => {
    await sleep(500 + Math.random() * 2_000);
    while ((await change("majority", many, "email", 0)).outcome === "unknown" && running()) await sleep(100);
  };
  await Promise.all([
    change("first", alone, "phone", Math.random() * 300),
    change("second", alone, "full_name", 200 + Math.random() * 800),
    across(),
  ]);
}
