// The short form of the histories drill. `npm run drill -- histories` runs the long one.
import { histories } from "./histories/histories.ts";
import { holds } from "./hold.ts";

// Tests of the checker cover planted faults, because a control would take another minute.
holds(histories, ["CON-01", "CON-02", "CON-03", "CON-04", "CON-05", "KEY-09", "IDM-18", "OPS-17"], "in the long form");
