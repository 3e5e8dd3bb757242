// The instances of the soak drill. The first survives; the others come and go.
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Site } from "../dependencies/site.ts";
import type { Ledger, Surfaces } from "../dependencies/surfaces.ts";
import { surfacesOf } from "../dependencies/surfaces.ts";
import { warmUp } from "../dependencies/trial.ts";
import type { Victims } from "./faults.ts";
import type { Loaded, Miss } from "./load.ts";

export interface Fleet extends Victims {
  readonly loaded: readonly Loaded[];
  /** The instance that survives, and its surfaces. */
  readonly survivor: { readonly instance: ChildInstance; readonly surfaces: Surfaces };
  /** Whether a failure is due to a killed instance, or a rejection due to one that is stopping. */
  excuses(miss: Miss): boolean;
  close(): Promise<void>;
}

/** Warms up the instances of the site and puts them under load. */
export async function createFleet(site: Site, known: string, ledger: Ledger): Promise<Fleet> {
  const { instances, start } = site.fixture;
  const loaded: (Loaded & { readonly instance: ChildInstance })[] = [];
  const killed = new Map<string, number>();
  const stopped = new Set<string>();
  let count = 0;
  const launch = async (instance: ChildInstance): Promise<void> => {
    const surfaces = surfacesOf(site, instance, known, ledger);
    await warmUp(surfaces);
    loaded.push({ name: `instance ${++count}`, instance, surfaces });
  };
  for (const instance of instances) await launch(instance);
  const [survivor] = loaded;
  if (survivor === undefined) throw new Error("no instance");

  return {
    loaded,
    survivor,
    excuses: ({ instance, kind, completedAt, word }) => {
      if (stopped.has(instance)) return kind === "serving" && word === "unavailable";
      const at = killed.get(instance);
      return at !== undefined && completedAt >= at && (word === "unavailable" || word.startsWith("no response"));
    },
    victim() {
      const others = loaded.filter((one) => one !== survivor);
      const one = others[Math.floor(Math.random() * others.length)];
      if (one === undefined) throw new Error("no instance to stop");
      const leave = (): void => {
        loaded.splice(loaded.indexOf(one), 1);
      };
      return {
        async kill() {
          killed.set(one.name, performance.now());
          // The load continues until the connections break.
          await one.instance.kill();
          leave();
          await one.surfaces.close();
        },
        async stop() {
          leave();
          stopped.add(one.name);
          const code = await one.instance.stop();
          await one.surfaces.close();
          return code;
        },
        async replace() {
          const next = await start();
          instances[instances.indexOf(one.instance)] = next;
          await launch(next);
        },
      };
    },
    async close() {
      await Promise.all(loaded.map(({ surfaces }) => surfaces.close()));
    },
  };
}
