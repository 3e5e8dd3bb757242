// The short form of the rolling drill.
import { rolling } from "./rolling/rolling.ts";
import { holds } from "./hold.ts";

holds(rolling, ["OPS-16", "OPS-17"]);
