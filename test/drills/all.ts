// All drills, in the order they run.
import type { Drill } from "./drill.ts";
import { backup } from "./backup/backup.ts";
import { erasure } from "./erasure/erasure.ts";
import { crash } from "./crash/crash.ts";
import { dependencies } from "./dependencies/dependencies.ts";
import { histories } from "./histories/histories.ts";
import { hostile } from "./hostile/hostile.ts";
import { isolation } from "./isolation/isolation.ts";
import { kills } from "./kills/kills.ts";
import { limiter } from "./limiter/limiter.ts";
import { overload } from "./overload/overload.ts";
import { redisGroups } from "./redis-groups/redis-groups.ts";
import { rolling } from "./rolling/rolling.ts";
import { signOut } from "./sign-out/sign-out.ts";
import { soak } from "./soak/soak.ts";
import { starvation } from "./starvation/starvation.ts";
import { upgrade } from "./upgrade/upgrade.ts";

export const drills: readonly Drill[] = [
  ...[kills, crash, limiter, redisGroups, overload, starvation, rolling, upgrade],
  ...[backup, erasure, dependencies, soak, isolation, signOut, hostile, histories],
];
