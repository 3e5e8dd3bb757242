// The drill of a Redis Cluster and a Sentinel group in its short form: `npm run drill -- redis-groups` is the long one.
import { redisGroups } from "./redis-groups/redis-groups.ts";
import { holds } from "./hold.ts";

holds(redisGroups, ["RTE-03", "RTE-13", "IDM-15", "OPS-17"]);
