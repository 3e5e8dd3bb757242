// The drills, in the order in which they are run.
import type { Drill } from "./drill.ts";

export const drills: readonly Drill[] = [];
