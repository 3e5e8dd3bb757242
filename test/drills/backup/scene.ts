// What a run of the drill works on, and how it waits for a command.
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

/** Waits until something is so while a command runs. */
export async function until({ ended }: Running, isSo: () => boolean | Promise<boolean>): Promise<void> {
  let over = false;
  void ended.then(() => (over = true));
  while (!(await isSo())) {
    if (over) throw new Error(`a command ended too early: ${(await ended).output}`);
    await sleep(5);
  }
}
