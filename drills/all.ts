// The drills, in the order in which they are run.
import type { Drill } from "./drill.ts";
import { crash } from "./crash/crash.ts";
import { dependencies } from "./dependencies/dependencies.ts";
import { hostile } from "./hostile/hostile.ts";
import { isolation } from "./isolation/isolation.ts";
import { kills } from "./kills/kills.ts";
import { limiter } from "./limiter/limiter.ts";
import { overload } from "./overload/overload.ts";
import { rolling } from "./rolling/rolling.ts";
import { soak } from "./soak/soak.ts";

export const drills: readonly Drill[] = [kills, crash, limiter, overload, rolling, dependencies, soak, isolation, hostile];
