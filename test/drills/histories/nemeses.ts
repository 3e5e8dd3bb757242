// Network and process faults. Each nemesis injects one, holds it for a while, and heals it.
import { setTimeout as sleep } from "node:timers/promises";
import { now } from "./operation.ts";
import type { Scene } from "./scene.ts";
import { cut, kill, separate, sidesOf, stepUp, stopped } from "./scene.ts";

export type Nemesis = (scene: Scene) => Promise<void>;

export type NemesisName = keyof typeof nemeses;

export const nemeses = {
  /**
   * The others hold an election when they miss the primary's heartbeats. The primary notices at about the same time.
   */
  async "side cut"(scene) {
    const sides = await cut(scene);
    await scene.meanwhile(scene.electionMs + 3_000, sides.manyInstances);
    scene.site.network.heal();
  },

  /** The others hold an election before the old primary notices. Until then, both lead. */
  async "side cut, forced election"(scene) {
    const sides = await cut(scene);
    await stepUp(scene.site, sides.followers);
    await scene.meanwhile(scene.electionMs, sides.manyInstances);
    scene.site.network.heal();
  },

  /** Requests of the old primary's instances reach it only after the others have acknowledged newer writes. */
  async "side cut, forced election, requests late"(scene) {
    const { site } = scene;
    const sides = await sidesOf(scene);
    const from = now();
    site.network.set(sides.alone, [sides.primary], { held: "requests" });
    await sleep(300);
    separate(site, sides);
    scene.divided(sides.alone, sides.manyInstances);
    await stepUp(site, sides.followers);
    await scene.meanwhile(2_500, sides.manyInstances);
    scene.standstills.push({ from, to: now() });
    site.network.set(sides.alone, [sides.primary], "open");
    await scene.meanwhile(2_500, sides.manyInstances);
    site.network.heal();
  },

  /** Healed so soon that operations on the old primary's side are still in progress. */
  async "brief side cut, forced election"(scene) {
    const sides = await cut(scene);
    await stepUp(scene.site, sides.followers);
    await scene.meanwhile(2_500, sides.manyInstances);
    scene.site.network.heal();
  },

  /** The old primary wakes up, reaches only its instances, and still believes that it leads. */
  async "stall and wake"(scene) {
    const { site, electionMs } = scene;
    const sides = await sidesOf(scene);
    await stopped(scene, sides.primary, async () => {
      separate(site, sides);
      await stepUp(site, sides.followers);
      await sleep(Math.min(1_500, electionMs / 4));
    });
    scene.divided(sides.alone, sides.manyInstances);
    await scene.meanwhile(electionMs, sides.manyInstances);
    site.network.heal();
  },

  /** The same without a forced election: it sleeps until the others have elected a new primary. */
  async "stall, natural election, and wake"(scene) {
    const { site, electionMs } = scene;
    const sides = await sidesOf(scene);
    await stopped(scene, sides.primary, async () => {
      separate(site, sides);
      await site.primaries.current();
      for (let leader = sides.primary; leader === sides.primary; ) {
        await sleep(50);
        leader = await site.primaries.current();
      }
    });
    await scene.meanwhile(electionMs, sides.manyInstances);
    site.network.heal();
  },

  async "kill of the primary"(scene) {
    const { site } = scene;
    const primary = await site.primaries.current();
    await kill(site, primary);
    await scene.meanwhile(scene.electionMs + 1_000, site.instances);
    await site.fixture.mongod.revive();
  },

  async "freeze of a follower"(scene) {
    const { followers } = await sidesOf(scene);
    await stopped(scene, followers[0] ?? "", () => scene.meanwhile(4_000, scene.site.instances));
  },

  /** Shorter than the election timeout: it remains the primary. */
  async "short freeze of the primary"(scene) {
    await stopped(scene, await scene.site.primaries.current(), () => sleep(scene.electionMs * 0.6));
    await scene.meanwhile(1_000, scene.site.instances);
  },

  /** Long enough for the driver to reconnect and for MongoDB to elect another primary. */
  async "long freeze of the primary"(scene) {
    await stopped(scene, await scene.site.primaries.current(), () =>
      scene.meanwhile(scene.electionMs + 3_000, scene.site.instances),
    );
  },

  async stepdown(scene) {
    const { site } = scene;
    const primary = await site.primaries.current();
    await site.primaries
      .direct(primary)
      .db("admin")
      .command({ replSetStepDown: 5, force: true })
      .catch(() => undefined);
    await scene.meanwhile(3_000, site.instances);
  },

  /** Makes one member after another the primary, as for maintenance. */
  async handover(scene) {
    const { site } = scene;
    for (let time = 0; time < 3; time++) {
      const { followers } = await sidesOf(scene);
      await stepUp(site, followers);
      await scene.meanwhile(2_500, site.instances);
    }
  },

  async "slow links"(scene) {
    const { site } = scene;
    for (const delayMs of [100, 300, 200]) {
      for (const from of [...site.members, ...site.instances])
        site.network.set([from], site.members, { delayMs: delayMs * (0.5 + Math.random()) });
      await scene.meanwhile(2_500, site.instances);
    }
    site.network.heal();
  },

  /** Delays an instance's requests and their responses by seconds. */
  async "held links of an instance"(scene) {
    const { site } = scene;
    const one = site.instances.slice(0, scene.onPrimarySide);
    for (const held of ["requests", "replies", "both"] as const) {
      const from = now();
      site.network.set(one, site.members, { held });
      await scene.meanwhile(2_500, site.instances.slice(scene.onPrimarySide));
      scene.standstills.push({ from, to: now() });
      site.network.heal();
    }
  },

  async "kill of an instance"(scene) {
    const { site } = scene;
    const at = Math.floor(Math.random() * site.instances.length);
    await site.fixture.instances[at]?.kill();
    await scene.meanwhile(
      500,
      site.instances.filter((_, other) => other !== at),
    );
    site.fixture.instances[at] = await site.fixture.start();
  },

  /** The old primary's instance stalls until its lease is over, then resumes what it had started. */
  async "side cut, and its instance stalls"(scene) {
    const sides = await cut(scene);
    await stepUp(scene.site, sides.followers);
    await stopped(scene, sides.alone[0] ?? "", () => scene.meanwhile(3_000, sides.manyInstances));
    await scene.meanwhile(scene.electionMs / 2, sides.manyInstances);
    scene.site.network.heal();
  },
} satisfies Record<string, Nemesis>;
