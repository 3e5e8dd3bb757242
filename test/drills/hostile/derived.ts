// Derives the test cases from the sources and descriptors: every place in every request with every pattern.
import type { Operation, Where } from "../isolation/operations.ts";
import { assistantOperations } from "../isolation/assistant.ts";
import { rpcOperations } from "../isolation/operations.ts";
import type { User } from "../isolation/users.ts";
import type { Case } from "./cases.ts";
import { casesOf } from "./cases.ts";
import { bodySlots, fieldSlots, internalSlots } from "./fields.ts";
import { onceBad } from "./regressions.ts";
import { patternsFor } from "./patterns.ts";
import { requestsOf } from "./requests.ts";
import type { Slot } from "./slots.ts";
import { headerSlots, targetSlots } from "./slots.ts";
import { readSought } from "./sources.ts";
import type { Wire } from "./wire.ts";
import { createHttp2, http1 } from "./wire.ts";

/** Which cases to run. */
export type Selection =
  /** All places; the regressions come first. */
  | "all"
  /** The derived cases of one place. */
  | { readonly slot: string; readonly version: Wire["version"] }
  /** One of the regressions. */
  | { readonly onceBad: string };

export interface Derived {
  readonly cases: Iterable<Case>;
  readonly places: number;
  readonly ways: number;
  readonly patterns: number;
  close(): void;
}

/** Fixed, so that runs are reproducible. */
const seed = 20_261_122;

/** Derives the cases for a running instance. */
export async function derive(where: Where, user: User, selection: Selection): Promise<Derived> {
  const sought = readSought();
  const patterns = patternsFor(sought.literals);
  const http2 = createHttp2();
  const requests = requestsOf(where, user, await largestAsset(where.base));
  const wires = [http1, http2];
  const operations: Operation[] = [...rpcOperations(where), ...(await assistantOperations(where, user))];
  const slots = [
    ...headerSlots(sought.headers, requests, wires),
    ...targetSlots(requests, wires),
    ...fieldSlots(operations, user),
    ...internalSlots(where, user),
    ...bodySlots(requests, http2),
  ].filter(({ ways }) => ways.length > 0);
  return {
    cases: selected(slots, patterns, selection),
    places: slots.length,
    ways: slots.reduce((sum, { ways }) => sum + ways.length, 0),
    patterns: patterns.length,
    close: () => http2.close(),
  };
}

function* selected(
  slots: readonly Slot[],
  patterns: ReturnType<typeof patternsFor>,
  selection: Selection,
): Generator<Case> {
  if (selection === "all") {
    yield* onceBad(slots);
    yield* casesOf(slots, patterns, seed);
  } else if ("onceBad" in selection) yield* onceBad(slots, (slot) => slot === selection.onceBad);
  else yield* casesOf(among(slots, selection.slot, selection.version), patterns, seed);
}

function among(slots: readonly Slot[], name: string, version: string): Slot[] {
  const own = slots.filter((slot) => slot.name === name);
  if (own.length === 0) throw new Error(`no place ${name}`);
  return own.map(({ ways }) => ({ name, ways: ways.filter((way) => way.name.endsWith(version)) }));
}

/** The path of the reference page's renderer. */
async function largestAsset(base: string): Promise<string> {
  const page = await (await fetch(`${base}/docs`)).text();
  const [path] = /(?<=src=")[^"]+\/renderer\.js(?=")/.exec(page) ?? [];
  if (path === undefined) throw new Error("the reference page has no renderer");
  return new URL(path, `${base}/docs`).pathname;
}
