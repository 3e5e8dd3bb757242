// The short form of the overload drill.
import { overload } from "./overload/overload.ts";
import { holds } from "./hold.ts";

// A few seconds of load do not overload a fast machine, so there is no control.
holds(overload, ["RTE-04", "HLT-04", "OPS-15"], "never");
