// The short form of the hostile drill.
import { hostile } from "./hostile/hostile.ts";
import { holds } from "./hold.ts";

holds(hostile, ["OPS-70", "OPS-71"], "in the long form");
