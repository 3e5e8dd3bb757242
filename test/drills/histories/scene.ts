// Actions of the nemeses: network partitions, elections, and stopped or killed processes.
import { setTimeout as sleep } from "node:timers/promises";
import { isListening } from "../../../src/embedded/port.ts";
import { until } from "../../../src/embedded/wait.ts";
import { now } from "./operation.ts";
import type { Standstill } from "./records-checker.ts";
import type { Site } from "./site.ts";

export interface Scene {
  readonly site: Site;
  /** The election timeout of the members. */
  readonly electionMs: number;
  /** How many instances are on the side of the old primary. */
  readonly onPrimarySide: 1 | 2;
  /** When a process or link was paused. */
  readonly standstills: Standstill[];
  /** Called on a cut, with the instances on the old primary's side and the others. */
  divided(alone: readonly string[], many: readonly string[]): void;
  /** Waits while the fault lasts. The round may operate a switch meanwhile, over one of `instances`. */
  meanwhile(ms: number, instances: readonly string[]): Promise<void>;
}

/** The two sides of a cut: the primary with some instances, and everything else. */
export interface Sides {
  readonly primary: string;
  readonly alone: readonly string[];
  readonly followers: readonly string[];
  readonly many: readonly string[];
  readonly manyInstances: readonly string[];
}

export async function sidesOf({ site, onPrimarySide }: Scene): Promise<Sides> {
  const primary = await site.primaries.current();
  const followers = site.members.filter((member) => member !== primary);
  const [alone, manyInstances] = [site.instances.slice(0, onPrimarySide), site.instances.slice(onPrimarySide)];
  return { primary, alone, followers, manyInstances, many: [...followers, ...manyInstances] };
}

/** Rejects connections between the sides. If they were held, the new primary would wait for the old one. */
export function separate({ network }: Site, { primary, alone, followers, many }: Sides): void {
  network.set([primary, ...alone], followers, "rejected");
  network.set(many, [primary], "rejected");
}

export async function cut(scene: Scene): Promise<Sides> {
  const sides = await sidesOf(scene);
  separate(scene.site, sides);
  scene.divided(sides.alone, sides.manyInstances);
  return sides;
}

export async function stepUp({ primaries }: Site, followers: readonly string[]): Promise<void> {
  for (const end = now() + 10_000; ; ) {
    for (const follower of followers) {
      const done = await primaries
        .direct(follower)
        .db("admin")
        .command({ replSetStepUp: 1 })
        .then(
          () => true,
          () => false,
        );
      if (done) return;
    }
    if (now() > end) throw new Error("none of the followers could be made the primary");
    await sleep(100);
  }
}

/** Stops a process with SIGSTOP during the work. */
export async function stopped({ site, standstills }: Scene, name: string, work: () => Promise<unknown>): Promise<void> {
  const pid = site.pid(name);
  const from = now();
  process.kill(pid, "SIGSTOP");
  try {
    await work();
  } finally {
    // Recorded before SIGCONT, because the process may act before this one is scheduled again.
    standstills.push({ from, to: now() });
    process.kill(pid, "SIGCONT");
  }
}

/** Kills a member and resolves when nothing listens on its port. */
export async function kill({ fixture, pid }: Site, member: string): Promise<void> {
  const port = Number(new URL(fixture.mongod.members[Number(member.slice(1))]?.uri ?? "").port);
  process.kill(pid(member), "SIGKILL");
  await until(async () => !(await isListening(port)), AbortSignal.timeout(60_000));
}
