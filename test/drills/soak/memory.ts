// Samples the memory and descriptors of an instance from its metrics after garbage collection, and checks their growth.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import type { Form, Report } from "../drill.ts";

/** The memory and descriptors of an instance at one time. */
export interface Sample {
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  readonly resident: number;
  /** Used heap and external memory in bytes. */
  readonly kept: number;
  readonly descriptors: number;
}

/** Maximum growth of resident memory, by its slope over 25 minutes in the long form. Leaves room for the allocator. */
const maxResidentIn10Minutes = 5_000_000;
/** Connection pools grow by tens. A leak per request or connection would be hundreds. */
const maxDescriptors = 100;
/** Maximum growth in the short form, which is too short for a slope. The first requests always retain some memory. */
const maxKeptShortly = 16_000_000;

/** Node options that make an instance collect garbage on SIGUSR2. */
export const collecting = `--require ${join(import.meta.dirname, "collect.cjs")}`;

/** Makes the instance collect garbage, then samples it. The instance must have been started with `collecting`. */
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

/** The growth of a value in 10 minutes, by linear regression (least squares). */
function growth(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [atMean, valueMean] = [mean(({ at }) => at), mean(value)];
  const covariance = mean((one) => (one.at - atMean) * (value(one) - valueMean));
  const variance = mean(({ at }) => (at - atMean) ** 2);
  return variance === 0 ? 0 : (covariance / variance) * 600_000;
}

/** Checks the samples of an instance after its warm-up. */
export function memoryOf(form: Form, samples: readonly Sample[], warmUpSeconds: number): Report {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error("no samples");
  const warm = samples.filter(({ at }) => at - first.at >= warmUpSeconds * 1_000);
  const [begin = first] = warm;
  const slopes = { resident: growth(warm, ({ resident }) => resident), kept: growth(warm, ({ kept }) => kept) };
  const violations: string[] = [];
  if (form === "long" && slopes.resident > maxResidentIn10Minutes)
    violations.push(`the surviving instance grows by ${megabytes(slopes.resident)} MB in 10 minutes`);
  if (form === "short" && last.kept - first.kept > maxKeptShortly)
    violations.push(`the surviving instance retains ${megabytes(last.kept - first.kept)} MB more than before`);
  if (last.descriptors - begin.descriptors > maxDescriptors)
    violations.push(`descriptors grow from ${begin.descriptors} to ${last.descriptors}`);
  return {
    figures: {
      "resident, MB, start and end": `${megabytes(begin.resident)}, ${megabytes(last.resident)}`,
      "retained, MB, start and end": `${megabytes(begin.kept)}, ${megabytes(last.kept)}`,
      "resident, MB in 10 minutes": megabytes(slopes.resident),
      "retained, MB in 10 minutes": megabytes(slopes.kept),
      "descriptors, start and end": `${begin.descriptors}, ${last.descriptors}`,
    },
    violations,
  };
}

export function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}
