// The cases of all alerts, by name.
import type { Case } from "../case.ts";
import { dependencyCases } from "./dependencies.ts";
import { instanceCases } from "./instances.ts";
import { latencyCases } from "./latency.ts";
import { requestCases } from "./requests.ts";

export const cases: readonly Case[] = [...instanceCases, ...requestCases, ...latencyCases, ...dependencyCases];

export function caseOf(alert: string): Case {
  const found = cases.find((one) => one.alert === alert);
  if (found === undefined) throw new Error(`${alert} has no case in test/alerts/cases`);
  return found;
}
