// The state of one run of the drill, and a helper that waits during a command.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { Form, Say } from "../drill.ts";
import type { Running } from "../fixture/command.ts";

export interface Scene {
  readonly fixture: Fixture;
  readonly source: ChildInstance;
  readonly folder: string;
  readonly say: Say;
  readonly form: Form;
  readonly violations: string[];
}

/** Waits for a condition while a command runs. */
export async function until({ ended }: Running, condition: () => boolean | Promise<boolean>): Promise<void> {
  let over = false;
  void ended.then(() => (over = true));
  while (!(await condition())) {
    if (over) throw new Error(`a command ended too early: ${(await ended).output}`);
    await sleep(5);
  }
}
