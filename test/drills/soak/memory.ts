// What an instance holds in memory and descriptors, read from its own metrics after its garbage was collected, and
// where that leads.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Form, Report } from "../drill.ts";

/** What an instance holds at an instant. */
export interface Sample {
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  /** Resident, in bytes. */
  readonly resident: number;
  /** What it keeps: used by its heap and outside, in bytes. */
  readonly kept: number;
  readonly descriptors: number;
}

/**
 * Of what an instance holds; in the long form by the slope over 25 minutes, to which what the allocator does adds its
 * own.
 */
const maxResidentIn10Minutes = 5_000_000;
/** What a request or a connection left open would be hundreds; the pools of connections grow to some tens. */
const maxDescriptors = 100;
/**
 * In seconds there is no slope to see, and the first requests leave something behind by themselves: all of them so
 * much.
 */
const maxKeptShortly = 16_000_000;

/** Node's options by which an instance collects its garbage on a signal. */
export const collecting = `--require ${join(import.meta.dirname, "collect.cjs")}`;

/**
 * Has the instance collect its garbage and reports what is left. Needs an instance that was started with `collecting`.
 */
export async function sample({ pid, internalPort }: ChildInstance): Promise<Sample> {
  process.kill(pid, "SIGUSR2");
  await sleep(300);
  const text = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  return {
    at: performance.now(),
    resident: value("process_resident_memory_bytes"),
    kept: value("nodejs_heap_size_used_bytes") + value("nodejs_external_memory_bytes"),
    descriptors: value("process_open_fds"),
  };
}

/**
 * By how much a value grows in 10 minutes: the slope of the straight line that is nearest to the samples (least
 * squares).
 */
function growth(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [atMean, valueMean] = [mean(({ at }) => at), mean(value)];
  const covariance = mean((one) => (one.at - atMean) * (value(one) - valueMean));
  const variance = mean(({ at }) => (at - atMean) ** 2);
  return variance === 0 ? 0 : (covariance / variance) * 600_000;
}

/** Checks what was measured of one instance, from when it was warm. */
export function memoryOf(form: Form, samples: readonly Sample[], warmUpSeconds: number): Report {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error("nothing was measured");
  const warm = samples.filter(({ at }) => at - first.at >= warmUpSeconds * 1_000);
  const [begin = first] = warm;
  const slopes = { resident: growth(warm, ({ resident }) => resident), kept: growth(warm, ({ kept }) => kept) };
  const violations: string[] = [];
  if (form === "long" && slopes.resident > maxResidentIn10Minutes)
    violations.push(`the instance that lived through grows by ${megabytes(slopes.resident)} MB in 10 minutes`);
  if (form === "short" && last.kept - first.kept > maxKeptShortly)
    violations.push(`the instance that lived through keeps ${megabytes(last.kept - first.kept)} MB more than before`);
  if (last.descriptors - begin.descriptors > maxDescriptors)
    violations.push(`descriptors grow from ${begin.descriptors} to ${last.descriptors}`);
  return {
    figures: {
      "resident, MB, begin and end": `${megabytes(begin.resident)}, ${megabytes(last.resident)}`,
      "kept, MB, begin and end": `${megabytes(begin.kept)}, ${megabytes(last.kept)}`,
      "resident, MB in 10 minutes": megabytes(slopes.resident),
      "kept, MB in 10 minutes": megabytes(slopes.kept),
      "descriptors, begin and end": `${begin.descriptors}, ${last.descriptors}`,
    },
    violations,
  };
}

/** With one decimal. */
export function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}
