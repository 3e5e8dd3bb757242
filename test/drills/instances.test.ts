// The drill of instances that start at once, in its short form.
import { instances } from "./instances/instances.ts";
import { holds } from "./hold.ts";

holds(instances, ["OPS-16", "OPS-30", "OPS-50"]);
