// The drill of instances that are replaced under load, in its short form.
import { rolling } from "./rolling/rolling.ts";
import { holds } from "./hold.ts";

holds(rolling, ["OPS-16", "OPS-17"]);
