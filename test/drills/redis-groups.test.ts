// The short form of the redis-groups drill. `npm run drill -- redis-groups` runs the long one.
import { redisGroups } from "./redis-groups/redis-groups.ts";
import { holds } from "./hold.ts";

holds(redisGroups, ["RTE-03", "RTE-13", "IDM-15", "OPS-17"]);
