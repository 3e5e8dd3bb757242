// Tests operations with a fault: each must succeed or get 503, take effect at most once, and succeed after the fault.
import { until } from "../../../src/embedded/wait.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { nameOf } from "./kinds.ts";
import type { Lane } from "./lane.ts";
import type { Command } from "./message.ts";
import type { Round, Step } from "./plans.ts";
import type { Armed } from "./proxy.ts";
import type { Outcome, Recipe, Trial } from "./recipe.ts";
import { titleOf, wrong } from "./recipe.ts";

export interface Verdict {
  /** The number of commands into which the fault was injected. */
  readonly hits: number;
  /** The flaws; empty if there are none. */
  readonly flaws: readonly string[];
}

/** The service responds within 5 seconds, except to streams. The rest is for a busy machine. */
const responseMs = 5_000 + 3_000;
const streamMs = 60_000;
/** Everything must be served 5 seconds after the last fault. */
const recoveryMs = 5_000;

/** The outcome, or a timeout. */
async function completed({ streams }: Recipe, trial: Trial): Promise<Outcome> {
  const stop = new AbortController();
  const late = sleep(streams === true ? streamMs : responseMs, wrong("no response in time"), {
    signal: stop.signal,
  }).catch(() => wrong("stopped"));
  try {
    return await Promise.race([trial.send().catch((error: unknown) => wrong(`no response: ${String(error)}`)), late]);
  } finally {
    stop.abort();
  }
}

/**
 * Records the commands of the operation without a fault and with warm caches. Two successive runs must have the same
 * commands, because a single run can conflict with a transaction that an earlier fault left open, and retry. Their order
 * can differ: a request sends several at once.
 */
export async function commandsOf(recipe: Recipe, lane: Lane): Promise<readonly Command[]> {
  const kindsOf = (commands: readonly Command[]): string =>
    commands
      .map(({ name, collection, inTransaction }) => `${name} ${collection} ${inTransaction}`)
      .sort()
      .join();
  let before = await recorded(recipe, lane);
  for (let run = 0; run < 10; run++) {
    const commands = await recorded(recipe, lane);
    if (kindsOf(commands) === kindsOf(before)) return commands;
    before = commands;
  }
  throw new Error(`${titleOf(recipe)} has different commands in every run: ${kindsOf(before)}`);
}

async function recorded(recipe: Recipe, lane: Lane): Promise<readonly Command[]> {
  const trial = await recipe.prepare(lane);
  await untilNotOverloaded(lane);
  const armed = lane.proxy.arm(undefined, recipe.background);
  const outcome = await completed(recipe, trial);
  armed.disarm();
  await trial.clear?.();
  if (outcome.kind !== "success")
    throw new Error(`${titleOf(recipe)} fails without a fault: ${JSON.stringify(outcome)}`);
  return armed.commands;
}

/** Tests a request with a fault. */
export async function tried(recipe: Recipe, lane: Lane, { plan, emptied, again }: Step): Promise<Verdict> {
  const trial = await recipe.prepare(lane);
  const logged = lane.service.logLines.length;
  if (emptied) await lane.proxy.emptyPool();
  const armed = lane.proxy.arm({ ...plan, background: recipe.background });
  const outcome = await completed(recipe, trial);
  armed.disarm();
  const flaws = await flawsOf(trial, outcome);
  if (again) flaws.push(...(await flawsAfterwards(recipe, lane, trial)));
  await trial.clear?.();
  flaws.push(...internalErrorsIn(lane, logged));
  const [hit] = armed.hits;
  const command = hit === undefined ? "" : `, at ${plan.at} ${hit.name} ${hit.collection}`.trimEnd();
  const where = `${emptied ? ", on a fresh connection" : ""}${command}`;
  return { hits: armed.hits.length, flaws: flaws.map((flaw) => `${nameOf(plan.fault)}${where}: ${flaw}`) };
}

/** Tests concurrent requests, one of each operation. `begin` injects the fault and returns a function that ends it. */
export async function triedAtOnce(
  recipes: readonly Recipe[],
  lane: Lane,
  again: boolean,
  begin: () => Promise<() => Promise<void>>,
): Promise<string[]> {
  const trials = await Promise.all(recipes.map((recipe) => recipe.prepare(lane)));
  const logged = lane.service.logLines.length;
  const end = await begin();
  const outcomes = await Promise.all(recipes.map((recipe, at) => completed(recipe, trials[at] as Trial))).finally(end);
  const recoveredAt = performance.now() + recoveryMs;
  await until(() => isReady(lane), AbortSignal.timeout(recoveryMs));
  const flaws = await Promise.all(
    recipes.map(async (recipe, at) => {
      const trial = trials[at] as Trial;
      const found = await flawsOf(trial, outcomes[at] as Outcome);
      if (again) found.push(...(await flawsAfterwards(recipe, lane, trial, recoveredAt)));
      await trial.clear?.();
      return found.map((flaw) => `${titleOf(recipe)}: ${flaw}`);
    }),
  );
  return [...flaws.flat(), ...internalErrorsIn(lane, logged)];
}

/** Does the same with a fault of the proxy. */
export async function triedInRound(recipes: readonly Recipe[], lane: Lane, { plan, again }: Round): Promise<Verdict> {
  let armed: Armed | undefined;
  const flaws = await triedAtOnce(recipes, lane, again, () => {
    armed = lane.proxy.arm(plan);
    return Promise.resolve(() => Promise.resolve(armed?.disarm()));
  });
  return { hits: armed?.hits.length ?? 0, flaws };
}

/** After a lasting fault, or one that mongod injects for all instances, an instance must read the switches again. */
async function isReady({ service, whole }: Lane): Promise<boolean> {
  const probes = await Promise.all([service, whole].map(({ internal }) => fetch(`${internal}/readyz`)));
  return probes.every(({ status }) => status === 200);
}

/** Waits while the machine is overloaded, which shows in the instance without faults being unready too. */
async function untilNotOverloaded(lane: Lane): Promise<void> {
  const { status } = await fetch(`${lane.whole.internal}/readyz`);
  if (status !== 200) await until(() => isReady(lane), AbortSignal.timeout(30_000));
}

async function flawsOf(trial: Trial, outcome: Outcome): Promise<string[]> {
  return [...(outcome.kind === "wrong" ? [outcome.text] : []), ...(await flawsOfEffects(trial, outcome))];
}

/**
 * Checks that a repetition succeeds, or a new request if the operation is not idempotent: at once, or by `recoveredAt`
 * (`performance.now()`) after a fault that broke all connections, which the driver may only notice when it uses them.
 */
async function flawsAfterwards(recipe: Recipe, lane: Lane, trial: Trial, recoveredAt = 0): Promise<string[]> {
  const anew = !(trial.repeatable === true || trial.effects === undefined);
  for (;;) {
    const next = anew ? await recipe.prepare(lane) : trial;
    await untilNotOverloaded(lane);
    const outcome = await completed(recipe, next);
    const flaws = [...(outcome.kind === "unavailable" ? ["503"] : []), ...(await flawsOf(next, outcome))];
    if (anew) await next.clear?.();
    if (outcome.kind !== "unavailable" || flaws.length > 1 || performance.now() > recoveredAt)
      return flaws.map((flaw) => `afterwards, ${anew ? "a new request" : "the same request"}: ${flaw}`);
    await sleep(100);
  }
}

/** Checks that a successful write took effect once, and one with 503 at most once. */
async function flawsOfEffects(trial: Trial, outcome: Outcome): Promise<string[]> {
  const effects = await trial.effects?.();
  if (effects === undefined || effects === 1 || (effects === 0 && outcome.kind !== "success")) return [];
  return [`${outcome.kind} with ${effects} effects`];
}

function internalErrorsIn(lane: Lane, from: number): string[] {
  return lane.service.logLines.slice(from).flatMap((line) => {
    const { reason, err } = JSON.parse(line) as {
      reason?: string;
      err?: { type?: string; stack?: string[] };
    };
    if (reason !== "INTERNAL") return [];
    return [`the log has an unexpected error: ${err?.type ?? ""} at ${err?.stack?.[0] ?? "?"}`];
  });
}
